//go:build unix

package spare

import "golang.org/x/sys/unix"

// Free says how many bytes a program of this user may still write beside a file; negative is unknown.
func Free(path string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil || st.Bsize <= 0 {
		return -1
	}
	const most = 1 << 50                                                     // bytes, so that nothing overflows
	block := int64(st.Bsize)                                                 //nolint:unconvert // the types differ from system to system
	return int64(min(uint64(max(st.Bavail, 0)), uint64(most/block))) * block //nolint:gosec,unconvert // what root keeps for itself is less than nothing on some
}
