package task

import "errors"

// What callers branch on, beside the errors of package command.
var (
	// ErrNotStarted says that the command provably did not run and never will; the wrapped text says why.
	ErrNotStarted = errors.New("command did not start")
	// ErrClaimed says that the act was decided before: it runs, ran, or was made void. Acts are attempts; take a new id.
	ErrClaimed = errors.New("act is already claimed")
	// ErrInvalid says that a session id, act id or spec cannot be used.
	ErrInvalid = errors.New("invalid command")
	// ErrRunning says that the directory still belongs to a live process.
	ErrRunning = errors.New("command is still running")
	// ErrStillAlive says that Kill sent everything it had and some process of the tree remains.
	ErrStillAlive = errors.New("processes survived the kill")
	// ErrNoShim says that this program cannot start shims: it neither called RunShimIfAsked nor names a Runner.Exe.
	// Starting it again would only run it twice.
	ErrNoShim = errors.New("program does not call task.RunShimIfAsked")
	// ErrMissing says that there is no such act directory.
	ErrMissing = errors.New("no such command")
)
