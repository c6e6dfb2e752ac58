package task

import (
	"bufio"
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// trimMemory returns the mappings of the file that this process has written to, and what gives back the pages of the
// program file that only the start needed. They come back from the page cache when they are touched, so it should be
// called when this process has nothing left to do. It is most of the share of memory of a shim that few others run
// beside. It hardly allocates: a run of the collector would cost more than it could give back.
func trimMemory() (written [][2]uintptr, release func()) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil, func() {}
	}
	defer f.Close()
	var clean [][2]uintptr
	var from, to uintptr
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<10), 8<<10)
	for lines.Scan() {
		if a, b, ok := parseMapping(lines.Bytes()); ok {
			from, to = a, b
			if bytes.Contains(lines.Bytes(), []byte(" rw-p ")) {
				written = append(written, [2]uintptr{a, b - a})
				from, to = 0, 0
			}
		}
		// Only what is as it is in the file: a page that a loader has written to would count as anonymous.
		rest, ok := bytes.CutPrefix(lines.Bytes(), []byte("Anonymous:"))
		if ok && from < to && bytes.Equal(bytes.TrimSpace(rest), []byte("0 kB")) {
			clean = append(clean, [2]uintptr{from, to - from})
		}
	}
	return written, func() {
		for _, r := range written { // the kernel knows which pages of it are not
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, r[0], r[1], unix.MADV_PAGEOUT)
		}
		for _, r := range clean {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, r[0], r[1], unix.MADV_DONTNEED)
		}
	}
}

// parseMapping reads the first line of a mapping: range, rights, offset, device, inode, name. The range is empty unless
// the mapping is a private one of a file.
func parseMapping(line []byte) (from, to uintptr, ok bool) {
	span, rest, _ := bytes.Cut(line, []byte(" "))
	if bytes.HasSuffix(span, []byte(":")) {
		return 0, 0, false
	}
	lo, hi, _ := bytes.Cut(span, []byte("-"))
	a, err1 := strconv.ParseUint(string(lo), 16, 64)
	b, err2 := strconv.ParseUint(string(hi), 16, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, false
	}
	rights, _, _ := bytes.Cut(rest, []byte(" "))
	if string(rights) != "r-xp" && string(rights) != "r--p" && string(rights) != "rw-p" || bytes.IndexByte(rest, '/') < 0 {
		return 0, 0, true
	}
	return uintptr(a), uintptr(b), true
}
