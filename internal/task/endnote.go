//go:build linux || darwin

package task

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The shim notes what wait(2) told it at once, without syncing: until the exit record is on disk nobody else knows.

func (d actDir) noteEnd(status unix.WaitStatus) {
	if err := writeFile(d.path(endName), fmt.Appendf(nil, "%d %d\n", formatVersion, uint32(status)), false); err != nil {
		complain("note of the end: %v", err)
	}
}

// endNote returns what noteEnd has written.
func (d actDir) endNote() (unix.WaitStatus, bool) {
	text, err := readBounded(d.path(endName))
	f := strings.Fields(string(text))
	if err != nil || len(f) < 2 || text[len(text)-1] != '\n' {
		return 0, false
	}
	n, err := strconv.ParseUint(f[1], 10, 32)
	return unix.WaitStatus(n), err == nil
}

// noGo says that the exec stage exited without becoming the command, because its shim had died before.
func (d actDir) noGo() bool {
	var info unix.Stat_t
	return unix.Stat(d.path(noGoName), &info) == nil
}
