package task

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// replaceFile puts data at path by way of a temporary file, so that a reader sees the old content or all of the new.
// With sync the data is on disk before the name is; the name itself is durable only after syncDir.
func replaceFile(path string, data []byte, sync bool) error {
	tmp := filepath.Join(filepath.Dir(path), ".tmp."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid()))
	err := writeFile(tmp, data, sync)
	if err == nil {
		fault("tmp-" + filepath.Base(path))
		err = unix.Rename(tmp, path)
	}
	if err != nil {
		_ = unix.Unlink(tmp)
		return &fs.PathError{Op: "replace", Path: path, Err: err}
	}
	return nil
}

// writeFile creates or truncates a file of mode 0600 and fills it.
func writeFile(path string, data []byte, sync bool) error {
	fd, err := openRetry(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	for err == nil && len(data) > 0 {
		n := 0
		if n, err = unix.Write(fd, data); err == unix.EINTR {
			n, err = 0, nil
		}
		data = data[max(n, 0):]
	}
	if err == nil && sync {
		err = fdatasync(fd)
	}
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	return err
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
	defer os.Remove(tmp)
	if err := writeFile(tmp, data, false); err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	return linkExclusive(tmp, path)
}

// linkExclusive gives a file a second name unless that exists. It reports whether this call did.
func linkExclusive(from, to string) (bool, error) {
	switch err := unix.Link(from, to); err {
	case nil:
		return true, nil
	case unix.EEXIST:
		return false, nil
	default:
		return false, &fs.PathError{Op: "link", Path: to, Err: err}
	}
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
