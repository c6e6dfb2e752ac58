package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// StdoutClosed reports whether this process was started with stdout closed (>&-), as far as that can be seen: the Go
// runtime opens /dev/null in its place before any code of ours runs, for reading and writing. Programs that discard an
// output open /dev/null in the same way, so it counts as closed only where the parent has no stdout either, or where
// the parent is a shell, which would have opened it for writing alone. In doubt it is not closed.
func StdoutClosed() bool {
	if !isOpenedNull("self") {
		return false
	}
	parent := fmt.Sprint(os.Getppid())
	if _, err := os.Stat("/proc/" + parent + "/fd"); err != nil {
		return false // not ours to look at
	}
	if _, err := os.Lstat("/proc/" + parent + "/fd/1"); os.IsNotExist(err) {
		return true
	}
	name, err := os.ReadFile("/proc/" + parent + "/comm")
	return err == nil && slices.Contains(shells, strings.TrimSpace(string(name))) && !isOpenedNull(parent)
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "busybox"}

// isOpenedNull reports whether a process has /dev/null as stdout, open for reading and writing.
func isOpenedNull(pid string) bool {
	to, err := os.Readlink("/proc/" + pid + "/fd/1")
	if err != nil || to != "/dev/null" {
		return false
	}
	info, err := os.ReadFile("/proc/" + pid + "/fdinfo/1")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(info) {
		var flags int
		if n, _ := fmt.Sscanf(string(line), "flags:\t%o", &flags); n == 1 {
			return flags&unix.O_ACCMODE == unix.O_RDWR
		}
	}
	return false
}
