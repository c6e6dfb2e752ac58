package task

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What a command prints goes with the FIFO's content when nobody has it open any more: when the command ended, or let go
// of it, after the agent, the shim and the stand-in had died. That this happened is seen by the size of the pipe behind
// the FIFO: the first shim gives it one that no new pipe has, and the kernel makes a new pipe for the next opener.

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

// mayHaveMissed says whether the FIFO was without anybody since its first shim opened it, and may have been printed to
// after the last byte was taken from it. last is the newest segment, "" if there is none.
func (d actDir) mayHaveMissed(fd int, last string) bool {
	if !newPipe(fd) {
		return false
	}
	// A write to the FIFO shows in its time, unless it is kept on a file system that does not say.
	var fifo, seg unix.Stat_t
	if last == "" || unix.Fstat(fd, &fifo) != nil || unix.Stat(d.path(last), &seg) != nil {
		return true
	}
	var run unix.Stat_t // written just before the command could print
	if unix.Stat(d.path(runName), &run) != nil {
		return true
	}
	written, taken := fifo.Mtim.Nano(), seg.Mtim.Nano()
	return written >= taken || written <= run.Mtim.Nano()
}
