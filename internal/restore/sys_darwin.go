package restore

import (
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile is not there.
func cloneFile(*os.File, *os.File) error { return unix.ENOTSUP }

// exchange swaps two names in one moment.
func exchange(a *dir, x string, b *dir, y string) error {
	return unix.RenameatxNp(a.fd, x, b.fd, y, unix.RENAME_SWAP)
}

// renameNew moves a name to one that must not be taken.
func renameNew(a *dir, x string, b *dir, y string) error {
	return unix.RenameatxNp(a.fd, x, b.fd, y, unix.RENAME_EXCL)
}

// syncAll makes everything that was written below a directory durable.
func syncAll(d *dir) error {
	unix.Sync()
	return d.sync()
}
