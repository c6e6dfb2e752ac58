// Package spare keeps some space of a disk back, so that on a full one there is room for what frees space.
package spare

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	name = "perdure.spare"
	// size is what the removal of a session writes at most before it has freed as much.
	size = 1 << 20
	// low is how many bytes must be free for a spare to be made, and under which it is used.
	low = 8 << 20
)

// Keep makes the spare of a directory unless it is there or the disk is nearly full. Free says how much is free, and is
// negative if that is unknown.
func Keep(dir string, free func(string) int64) error {
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if n := free(dir); n >= 0 && n < low-size {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // Another process was faster.
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, size))
	if err = errors.Join(err, f.Chmod(0o600), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Use gives the spare back to a disk that is nearly full.
func Use(dir string, free func(string) int64) error {
	if n := free(dir); n < 0 || n >= low {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
