package task

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An exit record that cannot be written is tried again, for as long as it takes.
func TestExitRecordRetried(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "until [ -e go ]; do sleep 0.01; done; exit 6"))
	shims := b.processesOf("a", shimArg)
	if len(shims) != 1 {
		t.Fatalf("%d shims", len(shims))
	}
	var was unix.Rlimit
	none := unix.Rlimit{Cur: 1, Max: 1 << 10} // it can open no file
	if err := unix.Prlimit(shims[0].PID, unix.RLIMIT_NOFILE, &none, &was); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.cwd, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the shim complains twice", func() bool { return strings.Count(b.log("a"), "exit record") >= 2 })
	if len(b.processesOf("a", shimArg)) != 1 {
		t.Error("the shim gave up")
	}
	if err := unix.Prlimit(shims[0].PID, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(was.Cur, none.Max), Max: none.Max}, nil); err != nil {
		t.Fatal(err)
	}
	if st := b.wait("a"); code(st) != "exited 6" {
		t.Errorf("state %s", code(st))
	}
	b.start(b.script("gone", "until [ -e stop ]; do sleep 0.01; done"))
	shim := b.processesOf("gone", shimArg)
	if err := os.RemoveAll(filepath.Join(b.Dir, testSession, "gone")); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(b.cwd, "stop"), nil, 0o600)
	eventually(t, "a shim without a directory leaves", func() bool { return len(shim) == 1 && !alive(shim[0].PID, shim[0].Ticks) })
	if st, err := b.Settle(context.Background(), testSession, "gone"); err != nil || code(st) != "lost dir_missing" {
		t.Errorf("%s, %v", code(st), err)
	}
}
