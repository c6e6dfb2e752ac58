package restore

import (
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile makes an empty file share the content of another one, see ioctl_ficlone(2).
func cloneFile(dst, src *os.File) error {
	return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd()))
}

// exchange swaps two names in one moment.
func exchange(a *dir, x string, b *dir, y string) error {
	return unix.Renameat2(a.fd, x, b.fd, y, unix.RENAME_EXCHANGE)
}

// renameNew moves a name to one that must not be taken.
func renameNew(a *dir, x string, b *dir, y string) error {
	return unix.Renameat2(a.fd, x, b.fd, y, unix.RENAME_NOREPLACE)
}

// syncAll makes everything that was written below a directory durable.
func syncAll(d *dir) error { return d.fail("sync", "", unix.Syncfs(d.fd)) }
