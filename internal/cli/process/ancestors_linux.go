package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Stopped reports whether a process of this machine stands still since it was sent SIGSTOP or the like.
func Stopped(pid int) bool {
	fields, err := stat("/proc/" + strconv.Itoa(pid))
	return err == nil && (fields[0] == "T" || fields[0] == "t")
}

// stat are the fields of a process behind its name: its state, its parent, and more.
func stat(dir string) ([]string, error) {
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return nil, err
	}
	// The name in parentheses may hold anything; the fields behind its last one are plain.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return nil, fmt.Errorf("%s/stat: not understood", dir)
	}
	return fields, nil
}

// ParentAndArgs reads a process's parent and arguments.
func ParentAndArgs(pid int) (parent int, args []string, err error) {
	dir := "/proc/" + strconv.Itoa(pid)
	fields, err := stat(dir)
	if err != nil {
		return 0, nil, err
	}
	if parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, nil, err
	}
	// The arguments of some ancestors are not ours to read; their parents still are.
	cmdline, err := os.ReadFile(dir + "/cmdline")
	if err != nil {
		return parent, nil, nil //nolint:nilerr // see above
	}
	return parent, strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00"), nil
}
