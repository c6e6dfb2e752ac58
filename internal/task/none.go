//go:build !linux && !darwin

package task

import (
	"context"
	"io"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/sys"
)

// Runner would start commands and find them again. Here it refuses everything with the error of [sys.Commands], but for
// what there is nothing of.
type Runner struct {
	Dir string
	Exe []string
	Now func() time.Time
}

// RunShimIfAsked does nothing: no program is started as a shim here.
func RunShimIfAsked() {}

// BootID is empty: it would only be compared with a command's.
func BootID() string { return "" }

// CheckProgram refuses.
func CheckProgram([]string, string, []string) error { return sys.Commands() }

// Check refuses.
func (*Runner) Check() error { return sys.Commands() }

// Prepare refuses.
func (*Runner) Prepare(context.Context, command.Spec) error { return sys.Commands() }

// Start refuses.
func (*Runner) Start(context.Context, command.Spec) error { return sys.Commands() }

// State refuses.
func (*Runner) State(string, string) (command.State, error) {
	return command.State{}, sys.Commands()
}

// Settle refuses.
func (*Runner) Settle(context.Context, string, string) (command.State, error) {
	return command.State{}, sys.Commands()
}

// Wait refuses.
func (*Runner) Wait(context.Context, string, string) (command.State, error) {
	return command.State{}, sys.Commands()
}

// Look refuses.
func (*Runner) Look(context.Context, string, string) (command.State, error) {
	return command.State{}, sys.Commands()
}

// LookAll refuses, once for each command.
func (*Runner) LookAll(_ context.Context, targets []Target) []Seen {
	out := make([]Seen, len(targets))
	for i := range out {
		out[i].Err = sys.Commands()
	}
	return out
}

// Kill refuses.
func (*Runner) Kill(context.Context, string, string, string) error { return sys.Commands() }

// KillAll refuses, once for each command.
func (*Runner) KillAll(_ context.Context, targets []Target, _ string) []error {
	out := make([]error, len(targets))
	for i := range out {
		out[i] = sys.Commands()
	}
	return out
}

// Read refuses.
func (*Runner) Read(_, _ string, from int64, _ int) (b []byte, next, gap int64, err error) {
	return nil, from, 0, sys.Commands()
}

// Import refuses: what a command of another home has left could not be read here.
func (*Runner) Import(string, string, command.State, int64, io.Reader) error {
	return sys.Commands()
}

// List finds none.
func (*Runner) List(string) ([]string, error) { return nil, nil }

// Remove has nothing to remove.
func (*Runner) Remove(string, string) error { return nil }

// Sweep has nothing to remove.
func (*Runner) Sweep(string) error { return nil }

// Attach refuses.
func (*Runner) Attach(context.Context, string, string, int64) (*Terminal, error) {
	return nil, sys.Commands()
}

// CloseStdin refuses.
func (*Runner) CloseStdin(string, string) error { return sys.Commands() }

// Terminal would be one look into a command.
type Terminal struct{}

// Read ends at once.
func (*Terminal) Read([]byte) (int, error) { return 0, io.EOF }

// Write refuses.
func (*Terminal) Write([]byte) (int, error) { return 0, sys.Commands() }

// Offset is that of no byte.
func (*Terminal) Offset() int64 { return 0 }

// Gap counts none.
func (*Terminal) Gap() int64 { return 0 }

// Resize refuses.
func (*Terminal) Resize(command.TerminalSize) error { return sys.Commands() }
