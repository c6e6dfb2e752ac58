package proof_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The disk of the home fills up in mid-command, with the agent and the shim on it. The agent ends with the remedy; when
// there is room again, the command's real result arrives: its record had room set aside.
func TestDiskFillsUpInMidCommand(t *testing.T) {
	t.Parallel()
	mounted := false
	p := newPlace(t, func(dir string) { mounted = small(t, dir) })
	other := newTalk(t, p, "other", say("untouched"), say("still untouched"))
	other.run(t, 0, other.first()...)
	k := newTalk(t, p, "full", say("slow", slow), say("done"))
	a := k.start(t, k.first(bypass)...)
	k.marked(t, "begin")
	if !mounted { // Without the right to mount, a kill stands for the failure; TestDiskIsFull has the failure itself.
		a.dies(t)
	} else {
		filler := fill(t, p.dir)
		code, err := a.wait()
		if err != nil || code != 1 || !strings.Contains(a.stderr.String(), "free some space") && !strings.Contains(a.stderr.String(), "free space") {
			t.Errorf("exit code %d, %v: %s", code, err, &a.stderr)
		}
		k.marked(t, "end")
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	if r := k.run(t, 0, k.again(bypass)...); r.Result != "done" {
		t.Errorf("%+v", r)
	}
	k.sound(t, "begin end")
	if got := k.results(t, k.id); len(got) != 1 || !strings.HasSuffix(got[0], "exit code 9") {
		t.Errorf("results %q", got)
	}
	if r := other.run(t, 0, other.again("go on")...); r.Result != "still untouched" {
		t.Errorf("%+v", r)
	}
	other.sound(t, "")
}

// small mounts a small filesystem, if this process may.
func small(t *testing.T, dir string) bool {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=6m,mode=0700")
	if errors.Is(err, unix.EPERM) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}

// fill leaves no room in a directory's filesystem.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for size := 1 << 16; size > 0; size /= 2 {
		for {
			if _, err := f.Write(make([]byte, size)); err != nil {
				break
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}
