package restore

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// Journal is a restore on its way: here there is none.
type Journal struct{ Plan *Plan }

type (
	mover   struct{}
	Folding struct{} // which names a file system takes for one
)

// ErrJournal is wrapped by errors about a journal that cannot be read.
var ErrJournal = errors.New("there are no journals of restores here")

// Staging reports a name that a restore uses for itself: none.
func Staging(string) bool { return false }

// Materialise refuses, with the error of [sys.Captures].
func Materialise(context.Context, string, tree.Reader, store.Digest, Config) (Made, error) {
	return Made{}, sys.Captures()
}

// Make refuses.
func Make(context.Context, Input) (*Plan, error) { return nil, sys.Captures() }

// Begin refuses.
func Begin(string, string, *Plan, Config) (*Journal, error) { return nil, sys.Captures() }

// Pending finds nothing.
func Pending(string) ([]string, error) { return nil, nil }

// Needs finds nothing.
func Needs(string) ([]store.Digest, error) { return nil, nil }

// Open refuses.
func Open(string, string, Config) (*Journal, error) { return nil, sys.Captures() }

// Discard has nothing to remove.
func Discard(string, string) error { return nil }

// Root is no directory.
func (*Journal) Root() string { return "" }

// Undoing is false.
func (*Journal) Undoing() bool { return false }

// Done is false.
func (*Journal) Done() (Report, bool) { return Report{}, false }

// Run refuses.
func (*Journal) Run(context.Context) (Report, error) { return Report{}, sys.Captures() }

// Undo refuses.
func (*Journal) Undo(context.Context) (Report, error) { return Report{}, sys.Captures() }

// Forget has nothing to remove.
func (*Journal) Forget() error { return nil }

// Close has nothing to close.
func (*Journal) Close() error { return nil }
