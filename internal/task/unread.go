//go:build linux || darwin

package task

import (
	"fmt"
	"strconv"
	"strings"
)

// What a command prints goes with the FIFO's content when nobody has it open any more: when the command ended, or let
// go of it, after the agent, the shim and the stand-in had died. That this happened is seen by the size of the pipe
// behind the FIFO: the first shim gives it one that no new pipe has, and the kernel makes a new pipe for the next
// opener. Whether the old one held anything then, nobody can tell. The times of FIFO and segments do not: a step that
// took a part of what there was, or was broken off by a kill before it moved a byte, stamps its segment all the same,
// and a command that splices leaves no time in the FIFO. So it is always said that output may be missing.

// unreadPrefix begins the name of an empty file that says so; the rest is the absolute offset from which on output may
// be missing.
const unreadPrefix = "unread."

// noteUnread leaves word that output may be missing from an offset on. The first offset is what counts.
func (d actDir) noteUnread(from int64) {
	if err := writeFile(d.path(fmt.Sprintf("%s%016x", unreadPrefix, from)), nil, false); err != nil {
		complain("note of missing output: %v", err)
	}
}

// unreadFrom reads the name of such a file.
func unreadFrom(name string) (from int64, ok bool) {
	digits, ok := strings.CutPrefix(name, unreadPrefix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	from, err := strconv.ParseInt(digits, 16, 64)
	return from, err == nil
}
