package care

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemChecks looks at the kernel and the surroundings of this process.
func systemChecks() []check {
	out := []check{pidfdCheck(), subreaperCheck()}
	cgroup, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return append(out, check{Name: "scope", Level: levelWarn, Text: "what commands belong to is unknown: " + err.Error()})
	}
	container := false
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			container = true
		}
	}
	return append(out, scopeCheck(string(cgroup), container))
}

func pidfdCheck() check {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return check{Name: "pidfd", Level: levelWarn, Text: "the kernel has no pidfd (" + err.Error() + "): a process is told from a later one of the same number by its start time alone"}
	}
	_ = unix.Close(fd)
	return check{Name: "pidfd", Level: levelOK, Text: "processes are signalled by pidfd"}
}

func subreaperCheck() check {
	var on int32
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0); err != nil {
		return check{Name: "subreaper", Level: levelWarn, Text: "the kernel has no child subreapers: a command that forks away escapes from task kill"}
	}
	return check{Name: "subreaper", Level: levelOK, Text: "commands cannot fork away from their shim"}
}
