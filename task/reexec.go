package task

import (
	"os"
	"sync/atomic"
)

// How this binary recognises that it was started for a part of its own: the second-last argument and the guard in the
// environment have to agree, so that no user's argument can do it by accident.
const (
	shimArg  = "__perdure-shim"
	stageArg = "__perdure-exec"
	adoptArg = "__perdure-adopt" // in the environment only: a replacement shim is a shim for whoever looks for one
	guardKey = "PERDURE_REEXEC"
)

// reexecReady says that this program can be its own shim.
var reexecReady atomic.Bool

// RunShimIfAsked turns this process into a shim or an exec stage when it was started as one, and never returns then.
// Call it first thing in main, and in TestMain of tests that run commands; otherwise it does nothing.
func RunShimIfAsked() {
	reexecReady.Store(true)
	n := len(os.Args)
	if n < 3 {
		return
	}
	role := os.Args[n-2]
	guard := os.Getenv(guardKey)
	switch {
	case role == stageArg && guard == stageArg:
		os.Exit(stageMain(".")) // the shim started it in the act directory; the argument is for people
	case role == shimArg && guard == shimArg:
		os.Exit(shimMain(actDir(os.Args[n-1])))
	case role == shimArg && guard == adoptArg:
		os.Exit(adoptMain(actDir(os.Args[n-1])))
	}
}

// reexecEnv is the whole environment of a shim or stage: nothing of the agent's, whose keys it could leak, and a
// runtime that stays small.
func reexecEnv(role string) []string {
	return []string{guardKey + "=" + role, "GOMAXPROCS=1", "GOGC=25", "GOTRACEBACK=single"}
}

// faultHook is set by tests only; see fault. faultEnv tells an exec stage about it.
var (
	faultHook func(step string)
	faultEnv  []string
)

// fault is called between the steps of the protocol. Tests stop or kill the process there.
func fault(step string) {
	if faultHook != nil {
		faultHook(step)
	}
}
