package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
)

// mostUnbuilt is how many builds may fail by themselves in a row before a run ends.
const mostUnbuilt = 3

// faultyGo is how the compiler begins what it says of a line.
var faultyGo = regexp.MustCompile(`(?m)^\S+\.go:\d+:\d+: `)

// machineWords are in what a build says that failed for another reason than the Go that it was given.
var machineWords = [][]byte{
	[]byte("signal: "), []byte("no space left on device"), []byte("disk quota exceeded"), []byte("out of memory"), []byte("cannot allocate memory"),
	[]byte("too many open files"), []byte("resource temporarily unavailable"), []byte("input/output error"), []byte("internal compiler error"),
}

// refusedGo reports whether a build failed since the compiler refused what it read, and not by itself: a compiler that was
// killed, or that had no room for what it writes, says nothing of the fault.
func refusedGo(err error, out []byte) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() < 0 || !faultyGo.Match(out) {
		return false
	}
	for _, words := range machineWords {
		if bytes.Contains(out, words) {
			return false
		}
	}
	return true
}

// unbuiltError is that of a build that failed by itself: nothing is known of the fault.
type unbuiltError struct {
	err error
	out []byte
}

func (e *unbuiltError) Error() string {
	return fmt.Sprintf("the build failed by itself, and says nothing of the fault: %v\n%s", e.err, e.out)
}

func (e *unbuiltError) Unwrap() error { return e.err }
