package task

// standbyArg is what a stand-in shows in the place of shimArg: it has as many bytes. See standby.
const standbyArg = "__perdure-wait"

// aloneKey keeps a shim from having a stand-in, in tests of what happens without one.
const aloneKey = "PERDURE_ALONE"
