package app

import (
	"context"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/perdure/perdure/internal/cli/process"
)

// WhileRead calls do with a context that ends when the reader of stdout goes away, if that is a pipe: who follows
// something quiet has nothing to write, and would not notice. It ends then as one that writes does.
func (a *App) WhileRead(ctx context.Context, do func(ctx context.Context) error) error {
	out, ok := Underneath(a.Stdout).(*os.File)
	if !ok {
		return do(ctx)
	}
	if info, err := out.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return do(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	var gone atomic.Bool
	go func() {
		defer close(watched)
		if process.ReaderLeaves(ctx, out) {
			gone.Store(true)
			cancel()
		}
	}()
	err := do(ctx)
	cancel()
	<-watched
	if gone.Load() {
		return Exit(128 + int(syscall.SIGPIPE))
	}
	return err
}
