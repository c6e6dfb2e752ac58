//go:build unix && !linux && !darwin

package restore

import (
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile is not there.
func cloneFile(*os.File, *os.File) error { return unix.ENOTSUP }

// exchange is not there: what takes its place is a rename at a time.
func exchange(*dir, string, *dir, string) error { return unix.ENOSYS }

// renameNew is not there: a link that must be new takes its place.
func renameNew(*dir, string, *dir, string) error { return unix.ENOSYS }

// syncAll makes everything that was written below a directory durable.
func syncAll(d *dir) error {
	unix.Sync()
	return d.sync()
}
