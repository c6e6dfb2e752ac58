//go:build linux || darwin

package task

import "golang.org/x/sys/unix"

// copied says that this directory is a copy of the one that the command's shim works in, as in a backup, a snapshot or a
// home that was moved to another file system. A rename keeps the lock's identity, a copy cannot. The command is the
// original's then: whoever finds it here neither adopts nor signals it, and cannot know how it ends. Asked only under the
// boot that the record is of.
func (d actDir) copied(run runRecord) bool {
	if run.LockIno == 0 {
		return false
	}
	dev, ino, ok := fileID(d.path(lockName))
	return !ok || dev != run.LockDev || ino != run.LockIno
}

// fileID identifies a file on this machine until it is next started. False: it cannot be looked at.
func fileID(path string) (dev, ino uint64, ok bool) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return 0, 0, false
	}
	return uint64(st.Dev), st.Ino, true //nolint:unconvert // other systems have a signed one
}
