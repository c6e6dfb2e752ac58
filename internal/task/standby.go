//go:build linux || darwin

package task

// standbyArg is what a stand-in shows in the place of shimArg: it has as many bytes. See standby.
const standbyArg = "__perdure-wait"

// bootKey tells a replacement shim that was a stand-in under which boot it was made: an act whose records name another
// one has been given up since.
const bootKey = "PERDURE_BOOT"

// ofKey tells it whose stand-in it was, as pid:ticks: the one process that may still hold the lock, and look alive, while
// it dies.
const ofKey = "PERDURE_OF"

// aloneKey keeps a shim from having a stand-in, in tests of what happens without one.
const aloneKey = "PERDURE_ALONE"
