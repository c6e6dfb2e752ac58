//go:build unix

package sys

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const unixFiles = true

// Flags of files that are opened.
const (
	NoFollow = unix.O_NOFOLLOW // fails at a link as the last name
	NonBlock = unix.O_NONBLOCK // a pipe keeps nobody waiting
)

// How [Flock] locks.
const (
	Shared    = unix.LOCK_SH
	Exclusive = unix.LOCK_EX
	Try       = unix.LOCK_NB // do not wait: ErrLocked
	Unlock    = unix.LOCK_UN
)

// Errors of [Flock].
const (
	ErrLocked      = unix.EWOULDBLOCK // somebody else has it
	ErrInterrupted = unix.EINTR       // by a signal: it is to be tried again
)

// Flock locks a whole file for whoever has it open by this very opening, or gives the lock back. A lock that is held is
// changed, and free for a moment meanwhile. It goes with the last descriptor.
func Flock(f *os.File, how int) error { return unix.Flock(int(f.Fd()), how) }

// NoSpace reports whether an error is that of a full disk, or of a quota that is used up.
func NoSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// Owner is the id of the user whose a file is; false if the system does not tell.
func Owner(info fs.FileInfo) (uint32, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}

// Names is how many names a file has that is open; 0: it was removed.
func Names(f *os.File) (int, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0, err
	}
	return int(st.Nlink), nil
}

// Shareable opens a file that others may rename and remove meanwhile.
func Shareable(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// Sync makes a file durable, or the names in a directory.
func Sync(f *os.File) error { return f.Sync() }
