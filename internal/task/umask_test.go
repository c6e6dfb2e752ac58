//go:build linux || darwin

package task

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Goal: a command runs with the umask that its agent was started with; the shim's own is its own matter.
func TestUmask(t *testing.T) {
	old := unix.Umask(0o027)
	defer unix.Umask(old)
	b := newBench(t)
	b.run("mask", "umask")
	if out := b.output("mask"); out != "0027\n" {
		t.Errorf("umask printed %q", out)
	}
}
