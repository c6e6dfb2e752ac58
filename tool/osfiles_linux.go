package tool

import (
	"bytes"
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// renameNew renames a file to a name that must be free; ErrChanged if it is taken.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case err == unix.EEXIST:
		return ErrChanged
	case err == unix.EINVAL || err == unix.ENOSYS || err == unix.ENOTSUP:
		return renameChecked(from, to) // a filesystem without this call
	case err != nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// Bounds of extended attributes that are copied.
const (
	maxAttributes     = 256
	maxAttributeNames = 64 << 10
	maxAttribute      = 64 << 10
)

// copyAttributes gives temp the extended attributes (access control lists among them) of the file at path.
func copyAttributes(temp *os.File, path string) {
	names := make([]byte, maxAttributeNames)
	n, err := unix.Llistxattr(path, names)
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
		n, err := unix.Lgetxattr(path, name, value)
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
