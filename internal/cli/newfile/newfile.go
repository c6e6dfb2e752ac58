// Package newfile writes the files that commands are asked for, whole or not at all.
package newfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/cli/app"
)

// Write writes a file whole or not at all, readable by its owner alone. One that is there already is left alone, unless
// it may be replaced; what is no regular file is always left alone.
func Write(path string, replace bool, write func(io.Writer) error) (err error) {
	exists := func(info fs.FileInfo) error {
		if !info.Mode().IsRegular() {
			return &app.ExitError{Code: app.ExitUsage, Text: path + " is there and no regular file: it is left alone", Hint: "name another file"}
		}
		if !replace {
			return &app.ExitError{Code: app.ExitUsage, Text: path + " is there already: it is left alone", Hint: "--force replaces it; or name another file"}
		}
		return nil
	}
	if info, err := os.Lstat(path); err == nil {
		if err := exists(info); err != nil {
			return err
		}
	}
	dir := filepath.Dir(path)
	f, named, err := create(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, app.CauseOf(err))
	}
	name := f.Name()
	defer func() {
		_ = f.Close() // It is synced by then, or worth nothing.
		if named {
			_ = os.Remove(name) // gone already, if all went well
		}
	}()
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if !named && replace {
		name, named = filepath.Join(dir, ".perdure-"+rand.Text()), true
		if err := link(f, name); err != nil {
			return fmt.Errorf("write %s: %w", path, app.CauseOf(err))
		}
	}
	switch {
	case replace:
		err = os.Rename(name, path)
	case named:
		if err = os.Link(name, path); err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(name, path) // a filesystem without hard links
		}
	default:
		err = link(f, path)
	}
	if errors.Is(err, fs.ErrExist) && !replace {
		if info, lerr := os.Lstat(path); lerr == nil {
			return exists(info) // somebody else was faster
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, app.CauseOf(err))
	}
	return nil
}

// create makes a file of mode 0600 in a directory: one without a name, where the system has such, so that nothing is left
// of it when this process dies; else one whose name the caller removes.
func create(dir string) (f *os.File, named bool, err error) {
	if f, ok := nameless(dir); ok {
		return f, false, nil
	}
	f, err = os.CreateTemp(dir, ".perdure-*")
	return f, true, err
}
