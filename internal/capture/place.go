//go:build unix

package capture

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// openSteps opens a directory below the root by opening each on the way: no link is followed, no other file system entered.
func openSteps(root int, path string) (int, error) {
	var top unix.Stat_t
	if err := unix.Fstat(root, &top); err != nil {
		return -1, err
	}
	fd, err := openOne(root, ".")
	if path == "" || path == "." {
		return fd, err
	}
	for name := range strings.SplitSeq(path, "/") {
		if err != nil {
			return -1, err
		}
		next, openErr := openOne(fd, name)
		_ = unix.Close(fd)
		var st unix.Stat_t
		if openErr == nil && unix.Fstat(next, &st) == nil && st.Dev != top.Dev {
			_ = unix.Close(next)
			openErr = unix.EXDEV
		}
		fd, err = next, openErr
	}
	return fd, err
}

func openOne(dir int, name string) (int, error) {
	return again(func() (int, error) {
		return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
}

// openFile opens a file of a directory to read it; a link is not followed, and a fifo does not make it wait.
func openFile(dir int, name string) (int, error) {
	return again(func() (int, error) {
		return unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
}

func again(open func() (int, error)) (int, error) {
	for {
		fd, err := open()
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
