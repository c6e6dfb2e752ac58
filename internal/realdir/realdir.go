// Package realdir opens directories below a trusted one so that no symbolic link on the way is followed: not one that
// stands there, and not one that is put there meanwhile.
//
// The caller closes the root that it gets. What is done through the root stays in that directory, whatever becomes of
// its name.
package realdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLink is wrapped by the error about a symbolic link, or anything else, in the place of a directory.
var ErrLink = errors.New("it is no directory of its own; what is behind it is left alone: remove it, or put the directory back")

// Open opens the directory that the names lead to from base, each below the one before. One that is missing is
// fs.ErrNotExist, one that is no real directory ErrLink.
func Open(base string, names ...string) (*os.Root, error) { return walk(false, base, names) }

// Make is Open that makes what is missing, for its owner alone.
func Make(base string, names ...string) (*os.Root, error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	return walk(true, base, names)
}

// Check says whether something that is no directory of its own stands on the way. What is missing is no matter.
func Check(base string, names ...string) error {
	root, err := Open(base, names...)
	if err == nil {
		return root.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func walk(make bool, base string, names []string) (*os.Root, error) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		next, err := below(root, make, name, filepath.Join(append([]string{base}, names[:i+1]...)...))
		_ = root.Close()
		if err != nil {
			return nil, err
		}
		root = next
	}
	return root, nil
}

// Below opens the directory of that name in one that is open, whose name stays with the caller.
func Below(root *os.Root, name string) (*os.Root, error) {
	return below(root, false, name, filepath.Join(root.Name(), name))
}

func below(root *os.Root, make bool, name, path string) (*os.Root, error) {
	if make {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a symbolic link: %w", path, ErrLink)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file: %w", path, ErrLink)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) { // it was replaced just now
		_ = next.Close()
		return nil, fmt.Errorf("%s was replaced meanwhile: %w", path, ErrLink)
	}
	return next, nil
}
