//go:build linux || darwin

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

// RunShimIfAsked says that this program may be started again as a shim: call it first thing in main, and in TestMain of
// tests that run commands. Started as one, the process never gets there.
func RunShimIfAsked() { reexecReady.Store(true) }

// A shim begins here rather than in main: what most programs that import this package initialise after it, a database
// engine or a web server, is half of the time that a command takes to start and half of a shim's memory.
func init() {
	n := len(os.Args)
	if n < 3 {
		return
	}
	dir, role, guard := actDir(os.Args[n-1]), os.Args[n-2], os.Getenv(guardKey)
	switch {
	case role == stageArg && guard == stageArg:
		os.Exit(stageMain(".")) // the shim started it in the act directory; the argument is for people
	case role == shimArg && guard == shimArg:
		closeInherited()
		// Not on this goroutine: it is bound to its thread until all packages are initialised.
		go func() { os.Exit(shimMain(dir)) }()
		select {}
	case role == shimArg && guard == adoptArg:
		closeInherited()
		go func() { os.Exit(adoptMain(dir)) }()
		select {}
	}
}

// reexecEnv is the whole environment of a shim or stage: nothing of the agent's, whose keys it could leak, and a
// runtime that stays small.
func reexecEnv(role string) []string {
	return []string{guardKey + "=" + role, "GOMAXPROCS=1", "GOGC=25", "GOTRACEBACK=single"}
}

// faultHook is set by tests only; see fault. faultEnv tells an exec stage about it, standbyEnv a stand-in about its own.
var (
	faultHook  func(step string)
	faultEnv   []string
	standbyEnv []string
)

// fault is called between the steps of the protocol. Tests stop or kill the process there.
func fault(step string) {
	if faultHook != nil {
		faultHook(step)
	}
}

// What a shim writes to its ready pipe, once.
const (
	readyRunning = "running"
	readyClaimed = "claimed"
	readyError   = "error "
	maxReady     = 4096
)

const readyFD = 3
