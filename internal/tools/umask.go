//go:build unix

package tools

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// commonUmask is taken where the process's own can't be read without changing it.
const commonUmask = 0o022

// umask gives the bits that a new file does not get. The system call can only set it, which would race with every
// other thread that creates a file; Linux also shows it.
func (f OSFiles) umask() uint32 {
	if f.Umask != nil {
		return f.Umask()
	}
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return commonUmask
	}
	_, rest, ok := bytes.Cut(b, []byte("\nUmask:"))
	if !ok {
		return commonUmask
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseUint(strings.TrimSpace(string(line)), 8, 32)
	if err != nil {
		return commonUmask
	}
	return uint32(n)
}
