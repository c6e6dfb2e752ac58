package homes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/perdure/perdure/internal/invalid"
)

// ErrNoDir says that a session is to work in what is no directory.
var ErrNoDir = invalid.New("no directory to work in")

// isThere refuses a directory to work in that is none: every command of the session would fail in it.
func isThere(dir string) error {
	switch info, err := os.Stat(dir); {
	case !filepath.IsAbs(dir):
		return fmt.Errorf("%w: %q is not absolute", ErrNoDir, dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %s is not there: make it, or name another one", ErrNoDir, dir)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoDir, err)
	case !info.IsDir():
		return fmt.Errorf("%w: %s is something else: make it, or name another one", ErrNoDir, dir)
	}
	return nil
}

// movesSomewhere refuses options that have a session work where no directory is. The ones that it has may be gone.
func (h *Home) movesSomewhere(ctx context.Context, id string, opt Options) error {
	for _, dir := range []string{opt.Root, opt.Cwd} {
		if dir == "" {
			continue
		}
		if err := isThere(dir); err != nil {
			st, stateErr := h.State(ctx, id)
			if stateErr != nil {
				return stateErr
			}
			if dir != st.Config.Root && dir != st.Cwd {
				return fmt.Errorf("session %s: %w", st.ID, err)
			}
		}
	}
	return nil
}
