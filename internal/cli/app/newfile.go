package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// NewFile writes a file whole or not at all, readable by its owner alone. One that is there already is left alone, unless
// it may be replaced; what is no regular file is always left alone.
func NewFile(path string, replace bool, write func(io.Writer) error) (err error) {
	exists := func(info fs.FileInfo) error {
		if !info.Mode().IsRegular() {
			return &ExitError{Code: ExitUsage, Text: path + " is there and no regular file: it is left alone", Hint: "name another file"}
		}
		if !replace {
			return &ExitError{Code: ExitUsage, Text: path + " is there already: it is left alone", Hint: "--force replaces it; or name another file"}
		}
		return nil
	}
	if info, err := os.Lstat(path); err == nil {
		if err := exists(info); err != nil {
			return err
		}
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".perdure-*") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, CauseOf(err))
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already, if all went well
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if replace {
		err = os.Rename(f.Name(), path)
	} else if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		if info, lerr := os.Lstat(path); lerr == nil {
			return exists(info) // somebody else was faster
		}
	} else if err != nil { // a filesystem without hard links
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, CauseOf(err))
	}
	return nil
}
