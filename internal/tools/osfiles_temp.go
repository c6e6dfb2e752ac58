//go:build unix

package tools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
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
func createTemp(dir *os.File) (*os.File, error) {
	for range tempTries {
		name := fmt.Sprintf("%s%d-%d%s", tempPrefix, os.Getpid(), tempCounter.Add(1), tempSuffix)
		path := filepath.Join(dir.Name(), name)
		fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		// A sweeper may have come between create and lock. It holds the lock or has removed the name; another is made
		// then. A filesystem without locks has no sweepers, so that any other failure to lock is no harm.
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		var st unix.Stat_t
		if errors.Is(err, unix.EWOULDBLOCK) || unix.Fstat(fd, &st) != nil || st.Nlink == 0 {
			_ = unix.Unlinkat(int(dir.Fd()), name, 0)
			unix.Close(fd)
			continue
		}
		return os.NewFile(uintptr(fd), path), nil
	}
	return nil, fmt.Errorf("create a temporary file in %s: no free name", dir.Name())
}

// sweep removes the temporary files that crashed edits left in dir. It is housekeeping: what fails is left.
func sweep(dir *os.File) {
	d, err := place{dir: dir, name: ".", path: dir.Name()}.open(unix.O_RDONLY | unix.O_DIRECTORY) // with a position of its own
	if err != nil {
		return
	}
	defer d.Close()
	for seen := 0; seen < maxSweep; {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) {
				sweepOne(place{dir: dir, name: name, path: name})
			}
		}
		seen += len(names)
		if err == io.EOF || err != nil {
			return
		}
	}
}

// sweepOne removes one temporary file if it is a regular file of ours that nobody holds.
func sweepOne(p place) {
	file, err := p.open(unix.O_RDONLY)
	if err != nil {
		return
	}
	defer file.Close()
	fd := int(file.Fd())
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() && os.Geteuid() != 0 {
		return
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = unix.Unlinkat(p.fd(), p.name, 0)
	}
}

// renameOver renames a temporary file in dir over another name in it.
func renameOver(dir *os.File, temp, to string) error {
	if err := unix.Renameat(int(dir.Fd()), filepath.Base(temp), int(dir.Fd()), to); err != nil {
		return &os.LinkError{Op: "rename", Old: temp, New: to, Err: err}
	}
	return nil
}

// renameChecked renames a temporary file in dir to a name that is looked at just before; ErrChanged if it is taken.
func renameChecked(dir *os.File, temp, to string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), to, &st, unix.AT_SYMLINK_NOFOLLOW); !errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	return renameOver(dir, temp, to)
}
