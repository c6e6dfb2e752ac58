package capture

import (
	"context"

	"github.com/perdure/perdure/internal/sys"
)

// Dir is a directory under care: here there is none.
type Dir struct{}

// Open refuses, with the error of [sys.Captures].
func Open(string, Config) (*Dir, error) { return nil, sys.Captures() }

// Capture refuses as well.
func (*Dir) Capture(context.Context, Rung) (Result, error) { return Result{}, sys.Captures() }

// CaptureWithin refuses as well.
func (*Dir) CaptureWithin(context.Context, Rung, *Room) (Result, error) {
	return Result{}, sys.Captures()
}

// Changed notes nothing.
func (*Dir) Changed(...string) {}

// Rest has nothing to give back.
func (*Dir) Rest() {}

// Close has nothing to close.
func (*Dir) Close() error { return nil }

// Stat knows of no file.
func (*Dir) Stat(string) func(path string) (size, mtime int64, there bool) {
	return func(string) (int64, int64, bool) { return 0, 0, false }
}

// Progress has nothing to tell.
func (*Dir) Progress() (files, bytes int64) { return 0, 0 }
