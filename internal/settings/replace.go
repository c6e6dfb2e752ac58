package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile puts a text in the place of a file, whole or not at all, with mode 0600, and durably; its directory is made
// if there is none. A link to a file stays one.
func replaceFile(file string, text []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", file, err)
		}
	}()
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".perdure-*.toml") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
