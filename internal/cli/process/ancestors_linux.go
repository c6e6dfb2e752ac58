package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ParentAndArgs reads a process's parent and arguments.
func ParentAndArgs(pid int) (parent int, args []string, err error) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, nil, err
	}
	// The name in parentheses may hold anything; the fields behind its last one are plain.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 2 {
		return 0, nil, fmt.Errorf("%s/stat: not understood", dir)
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
