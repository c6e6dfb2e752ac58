package spare

import "golang.org/x/sys/windows"

// Free says how many bytes a program of this user may still write beside a file; negative is unknown.
func Free(path string) int64 {
	var free uint64
	name, err := windows.UTF16PtrFromString(path)
	if err != nil || windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return -1
	}
	const most = 1 << 50 // bytes, so that nothing overflows
	return int64(min(free, most))
}
