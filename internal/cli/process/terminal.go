package process

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// TerminalSize is the size of the terminal that stdout is, 0 if it is none.
func TerminalSize() (columns, rows int) {
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// TTY names the terminal that one of the files is, as pts/3 where the system tells and console elsewhere. It is
// empty when none is one.
func TTY(files ...*os.File) string {
	for _, f := range files {
		fd := int(f.Fd())
		if !term.IsTerminal(fd) {
			continue
		}
		if path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && strings.HasPrefix(path, "/dev/") {
			return strings.TrimPrefix(path, "/dev/")
		}
		return "console"
	}
	return ""
}
