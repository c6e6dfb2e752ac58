package task

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// replaceFile puts data at path by way of a temporary file, so that a reader sees the old content or all of the new.
// With sync the data is on disk before the name is; the name itself is durable only after syncDir.
func replaceFile(path string, data []byte, sync bool) (err error) {
	tmp := filepath.Join(filepath.Dir(path), ".tmp."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid()))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(tmp)
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = f.Write(data); err != nil {
		f.Close()
		return err
	}
	if sync {
		if err = f.Sync(); err != nil {
			f.Close()
			return err
		}
	}
	if err = f.Close(); err != nil {
		return err
	}
	fault("tmp-" + filepath.Base(path))
	return os.Rename(tmp, path)
}

// writeRecord is replaceFile of a JSON record.
func writeRecord(path string, v any, sync bool) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return replaceFile(path, append(b, '\n'), sync)
}

// createExclusive makes path with data unless it exists, in one step: link(2) decides who was first. It reports
// whether this call made it.
func createExclusive(path string, data []byte) (bool, error) {
	tmp := filepath.Join(filepath.Dir(path), ".tmp."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid())+"."+unique())
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		os.Remove(tmp)
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	err := os.Link(tmp, path)
	os.Remove(tmp)
	switch {
	case err == nil:
		return true, nil
	case os.IsExist(err):
		return false, nil
	}
	return false, err
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fsync(int(f.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}
