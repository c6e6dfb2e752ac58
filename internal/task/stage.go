//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of a command that could not be executed, as shells have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitNoGo          = 125 // nobody sees it: the shim that would collect it is dead
)

// goFD is where the stage waits for the go byte.
const goFD = 3

// stageMain is the process that becomes the command. It prepares everything, waits for the go byte, and executes. End
// of file instead of the byte means that the shim died first: the command must not run. The sandbox will be applied
// here, between the go byte and the exec.
func stageMain(d actDir) int {
	fault("stage-begun")
	plan, err := d.readPlan()
	if err != nil {
		return stageFailed(exitNotExecutable, err)
	}
	here, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return stageFailed(exitNotExecutable, err)
	}
	preferAsVictim()
	limitErr := applyLimits(plan.Limits)
	// From here on a missing program or directory is the command's own failure, but nothing of it may be seen before
	// the go byte: without a run.json the act counts as never run.
	chdirErr := os.Chdir(plan.Cwd)
	path, lookErr := findProgram(plan.Argv[0], plan.Env)
	if err := closeOnExecFrom(goFD); err != nil {
		return stageFailed(exitNotExecutable, err)
	}
	var goByte [1]byte
	fault("stage-waits")
	if n, _ := readRetry(goFD, goByte[:]); n != 1 {
		return neverGo(here)
	}
	fault("stage-goes")
	if err := errors.Join(chdirErr, limitErr); err != nil {
		return stageFailed(exitNotExecutable, err)
	}
	if lookErr != nil {
		return stageFailed(exitNotFound, lookErr)
	}
	if goByte[0] != goEnclosed {
		if err := limitMemory(plan.Limits.MemoryBytes); err != nil {
			return stageFailed(exitNotExecutable, err)
		}
	}
	err = syscall.Exec(path, plan.Argv, plan.Env)
	if errors.Is(err, fs.ErrNotExist) {
		return stageFailed(exitNotFound, fmt.Errorf("%s: %w", plan.Argv[0], err))
	}
	return stageFailed(exitNotExecutable, fmt.Errorf("%s: %w", plan.Argv[0], err))
}

// neverGo leaves word that this process never was the command. The name is a link, which even a full disk has room
// for. Without it the exit code would be taken for the command's, so the stage rather dies by a signal.
func neverGo(dir int) int {
	if err := unix.Linkat(dir, claimSource, dir, noGoName, 0); err != nil && err != unix.EEXIST {
		_ = unix.Kill(unix.Getpid(), unix.SIGKILL)
	}
	return exitNoGo
}

// stageFailed tells the command's own output why there is no command.
func stageFailed(code int, err error) int {
	fmt.Fprintf(os.Stderr, "perdure: %v\n", err)
	return code
}
