package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// thisMachine reads who and where this process is. What cannot be read stays empty: this kernel does not name its boots.
func thisMachine() *identity {
	me := &identity{pid: os.Getpid()}
	me.host, _ = os.Hostname()
	me.machine, _ = unix.Sysctl("kern.hostuuid")
	return me
}

// ended tells that a process is gone.
func ended(pid int, _ uint64) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// networkFS names the filesystem of a directory and reports whether it is remote.
func networkFS(dir string) (string, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", false
	}
	return unix.ByteSliceToString(st.Fstypename[:]), st.Flags&unix.MNT_LOCAL == 0
}

// openSynced opens a file whose Sync reaches the medium.
func openSynced(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
