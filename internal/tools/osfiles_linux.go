package tools

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openSearch opens a directory just to get at what is in it: its names need not be readable.
const openSearch = unix.O_PATH

// openBeyondLinks opens a path on which no link is followed; errors.ErrUnsupported if this kernel, or what guards it,
// does not know the call.
func openBeyondLinks(path string, flags int) (int, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
			Flags: uint64(flags), Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		err = errors.ErrUnsupported
	}
	return fd, err
}

// renameNew renames a temporary file in dir to a name that must be free; ErrChanged if it is taken.
func renameNew(dir *os.File, temp, to string) error {
	fd := int(dir.Fd())
	err := unix.Renameat2(fd, filepath.Base(temp), fd, to, unix.RENAME_NOREPLACE)
	switch {
	case err == unix.EEXIST:
		return ErrChanged
	case err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP:
		return renameChecked(dir, temp, to) // a filesystem without this call
	case err != nil:
		return &os.LinkError{Op: "rename", Old: temp, New: to, Err: err}
	}
	return nil
}

// Bounds of extended attributes that are copied.
const (
	maxAttributes     = 256
	maxAttributeNames = 64 << 10
	maxAttribute      = 64 << 10
)

// copyAttributes gives temp the extended attributes (access control lists among them) of a file.
func copyAttributes(temp, file *os.File) {
	names := make([]byte, maxAttributeNames)
	n, err := unix.Flistxattr(int(file.Fd()), names)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, maxAttribute)
	names = names[:n]
	for range maxAttributes {
		i := bytes.IndexByte(names, 0)
		if i <= 0 {
			return
		}
		name := string(names[:i])
		names = names[i+1:]
		if !copied(name) {
			continue
		}
		n, err := unix.Fgetxattr(int(file.Fd()), name, value)
		if err != nil {
			continue
		}
		if err := unix.Fsetxattr(int(temp.Fd()), name, value[:n], 0); errors.Is(err, unix.ENOTSUP) {
			return
		}
	}
}

// copied tells which attributes a new content keeps. Capabilities and integrity hashes belong to the old content.
func copied(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "system.posix_acl_access" || name == "security.selinux"
}
