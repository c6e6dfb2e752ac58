package sqlite

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/perdure/perdure/internal/sys"
)

// thisMachine reads who and where this process is. What this system does not tell stays empty.
func thisMachine() *identity {
	me := &identity{pid: os.Getpid()}
	me.host, _ = os.Hostname()
	return me
}

// ended tells that a process is gone: as far as this system says, none is, and its lock alone decides.
func ended(int, uint64) bool { return false }

// networkFS names the filesystem of a directory and reports whether it is on another machine.
func networkFS(dir string) (string, bool) {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	return "network", err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}

// openSynced opens a file whose Sync reaches the medium, and that may be removed meanwhile.
func openSynced(path string) (*os.File, error) { return sys.Shareable(path, os.O_RDWR, 0) }
