package sys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const unixFiles = false

// Flags of files that are opened. A link itself is opened by NoFollow, which is no regular file; nothing waits for a pipe.
const (
	NoFollow = windows.FILE_FLAG_OPEN_REPARSE_POINT
	NonBlock = 0
)

// How [Flock] locks.
const (
	Shared    = 0
	Exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	Try       = windows.LOCKFILE_FAIL_IMMEDIATELY // do not wait: ErrLocked
	Unlock    = 1 << 8
)

// Errors of [Flock].
const (
	ErrLocked      = windows.ERROR_LOCK_VIOLATION // somebody else has it
	ErrInterrupted = syscall.EINTR                // never given here
)

// lockByte is the place of the one byte that is locked, far behind the end of any file: a lock of this system keeps others
// from reading and writing what it is on.
const lockByte = 0x7fffffff

// Flock locks a whole file for whoever has it open by this very opening, or gives the lock back. A lock that is held is
// changed, and free for a moment meanwhile. It goes with the last handle.
func Flock(f *os.File, how int) error {
	h := windows.Handle(f.Fd())
	at := &windows.Overlapped{OffsetHigh: lockByte}
	err := windows.UnlockFileEx(h, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_NOT_LOCKED) || errors.Is(err, ErrLocked) { // nothing of this handle is
		err = nil
	}
	if err != nil || how&Unlock != 0 {
		return err
	}
	err = windows.LockFileEx(h, uint32(how), 0, 1, 0, &windows.Overlapped{OffsetHigh: lockByte}) //nolint:gosec // one of the flags above
	if how&Try != 0 && errors.Is(err, windows.ERROR_IO_PENDING) {
		err = ErrLocked
	}
	return err
}

// NoSpace reports whether an error is that of a full disk, or of a quota that is used up.
func NoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// Owner is the id of the user whose a file is; false if the system does not tell, as here.
func Owner(fs.FileInfo) (uint32, bool) { return 0, false }

// Names is how many names a file has that is open; 0: it was removed.
func Names(f *os.File) (int, error) {
	var info struct { // FILE_STANDARD_INFO
		allocated, size int64
		links           uint32
		deleted, dir    bool
	}
	err := windows.GetFileInformationByHandleEx(windows.Handle(f.Fd()), windows.FileStandardInfo,
		(*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return 0, os.NewSyscallError("GetFileInformationByHandleEx", err)
	}
	if info.deleted {
		return 0, nil
	}
	return int(info.links), nil
}

// Shareable opens a file that others may rename and remove meanwhile, which this system has to be told.
func Shareable(path string, flag int, perm fs.FileMode) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(filepath.Base(path), flag, perm)
	return f, errors.Join(err, root.Close())
}

// Sync makes a file durable. For the names in a directory the file system's journal does that.
func Sync(f *os.File) error {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil
	}
	return f.Sync()
}
