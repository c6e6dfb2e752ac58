//go:build linux || darwin

package task

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A shim, which outlives whoever started it, keeps no descriptor of theirs: a pipe that only a shim still held would
// never end for its reader, and a lock would never be free. An adopting shim keeps none either.
func TestShimInheritsNoDescriptor(t *testing.T) {
	b := newBench(t)
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil { // without the flag FD_CLOEXEC, as a shell's redirection is
		t.Fatal(err)
	}
	r := os.NewFile(uintptr(p[0]), "reader")
	defer func() { _ = r.Close() }()
	b.start(b.script("a", "sleep 60"))
	b.start(b.script("orphan", "sleep 60"))
	b.killShim("orphan")
	b.look("orphan") // another shim adopts it
	if err := unix.Close(p[1]); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.Read(make([]byte, 1))
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("a shim holds a pipe of the program that started it")
	}
}
