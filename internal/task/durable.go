//go:build linux || darwin

package task

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// replaceFile puts data at path by way of a temporary file, so that a reader sees the old content or all of the new.
// With sync the data is on disk before the name changes.
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
	fd, err := openRetry(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	for err == nil && len(data) > 0 {
		var n int
		if n, err = unix.Write(fd, data); err == unix.EINTR {
			n, err = 0, nil
		}
		data = data[max(n, 0):]
	}
	if err == nil && sync {
		fault("sync-" + filepath.Base(path))
		err = fdatasync(fd)
	}
	if cerr := unix.Close(fd); err == nil && cerr != unix.EINTR {
		err = cerr
	}
	return err
}

// overwrite replaces the content of an existing file in place, so that a full disk cannot refuse it as long as the
// file was as large before. Only for data of a single page, which readers see whole.
func overwrite(path string, data []byte, sync bool) error {
	fd, err := openRetry(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	n, err := unix.Pwrite(fd, data, 0)
	if err == nil && n < len(data) {
		err = unix.ENOSPC
	}
	if err == nil {
		err = unix.Ftruncate(fd, int64(len(data)))
	}
	if err == nil && sync {
		fault("sync-" + filepath.Base(path))
		err = fdatasync(fd)
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
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

// copyBytes is moveBytes where the system cannot do it in one step. It also returns how many bytes were read that the
// file then refused.
func copyBytes(pipe int, to *os.File, at int64, most int) (moved, lost int, err error) {
	buf := make([]byte, most)
	n, err := readRetry(pipe, buf)
	if n <= 0 {
		return 0, 0, err
	}
	moved, err = to.WriteAt(buf[:n], at)
	return moved, n - moved, err
}

// complain writes to the shim's log, which is its standard error.
func complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "shim %d: "+format+"\n", append([]any{os.Getpid()}, args...)...)
}

func readRetry(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Read(fd, b)
		if err != unix.EINTR {
			return n, err
		}
	}
}

var uniqueCounter atomic.Uint64

// unique tells apart the temporary names of one process.
func unique() string { return strconv.FormatUint(uniqueCounter.Add(1), 36) }
