package newfile

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// nameless makes a file without a name in a directory, if its filesystem can and it can be given a name later.
func nameless(dir string) (*os.File, bool) {
	if _, err := os.Lstat("/proc/self/fd"); err != nil {
		return nil, false
	}
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, false // the other way says what is wrong, if anything is
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir, ".perdure")), true
}

// link gives it a name that nothing has.
func link(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(int(f.Fd())), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
	}
	return nil
}
