package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Temporary files of edits are named .perdure-edit-<pid>-<n>.tmp. Whoever writes one holds an flock on it, so that
// a sweeper in any process or container tells a live one from one that a crash left.
const (
	tempPrefix = ".perdure-edit-"
	tempSuffix = ".tmp"
	tempTries  = 100
	maxSweep   = 200_000 // directory entries looked at
)

var tempCounter atomic.Uint64

// createTemp creates and locks a temporary file in dir.
func createTemp(dir string) (*os.File, error) {
	for range tempTries {
		name := filepath.Join(dir, fmt.Sprintf("%s%d-%d%s", tempPrefix, os.Getpid(), tempCounter.Add(1), tempSuffix))
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// A sweeper may have come between create and lock. It holds the lock or has removed the name; another is made
		// then. A filesystem without locks has no sweepers, so that any other failure to lock is no harm.
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		var st unix.Stat_t
		if errors.Is(err, unix.EWOULDBLOCK) || unix.Fstat(int(file.Fd()), &st) != nil || st.Nlink == 0 {
			_ = os.Remove(name)
			file.Close()
			continue
		}
		return file, nil
	}
	return nil, fmt.Errorf("create a temporary file in %s: no free name", dir)
}

// sweep removes the temporary files that crashed edits left in dir. It is housekeeping: what fails is left.
func sweep(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for seen := 0; seen < maxSweep; {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) {
				sweepOne(filepath.Join(dir, name))
			}
		}
		seen += len(names)
		if err == io.EOF || err != nil {
			return
		}
	}
}

// sweepOne removes one temporary file if it is a regular file of ours that nobody holds.
func sweepOne(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.Remove(path)
	}
}

// renameChecked renames a file to a name that is looked at just before; ErrChanged if it is taken.
func renameChecked(from, to string) error {
	if _, err := os.Lstat(to); !os.IsNotExist(err) {
		return ErrChanged
	}
	return os.Rename(from, to)
}
