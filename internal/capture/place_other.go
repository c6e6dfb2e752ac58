//go:build unix && !linux

package capture

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func openDir(root int, path string) (int, error) { return openSteps(root, path) }

// coarseClock is the system's clock, in ns.
func coarseClock() int64 { return time.Now().UnixNano() } //nolint:forbidigo // the default of Config.Now

// window is how far apart two changes must be for a file system's stamps to tell them: HFS+ has 1 s.
func window(int) int64 { return int64(2 * time.Second) }

// readNames appends the names in an open directory.
func readNames(fd int, _ []byte, names []string) ([]string, error) {
	again, err := unix.Dup(fd) // the file closes what it is made of
	if err != nil {
		return names, err
	}
	f := os.NewFile(uintptr(again), ".")
	defer f.Close()
	more, err := f.Readdirnames(-1)
	return append(names, more...), err
}
