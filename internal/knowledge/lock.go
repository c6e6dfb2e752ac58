package knowledge

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/perdure/perdure/internal/sys"
)

// lockPatience is how long another process may hold a lock: a change takes milliseconds.
const (
	lockPatience = 30 * time.Second
	lockPause    = 5 * time.Millisecond
)

// ErrBusy says that somebody else held the lock for too long.
var ErrBusy = errors.New("another process has held its lock for too long")

// lockDir takes the lock of a directory, which is released when the file is closed or the process ends.
func lockDir(ctx context.Context, dir *os.Root) (*os.File, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	if err := lockFile(ctx, d); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func lockFile(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockPatience, ErrBusy)
	defer cancel()
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for {
		err := sys.Flock(f, sys.Exclusive|sys.Try)
		if !errors.Is(err, sys.ErrLocked) && !errors.Is(err, sys.ErrInterrupted) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pause.C:
		}
	}
}
