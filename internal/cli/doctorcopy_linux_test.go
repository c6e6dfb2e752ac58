package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: doctor of a backup, also of one that is closed to writing, says that it is a copy, whose, and of when; it finds
// nothing wrong with it and changes nothing. Where the copy was put in its original's place it is none.
func TestDoctorOfABackup(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	w.prompt("s", asking("Bash", map[string]any{"command": "seq 20000"}), "go", "bypass")
	dir := filepath.Join(t.TempDir(), "copy")
	w.ok("backup", dir)
	for _, mode := range []os.FileMode{0o700, 0o500} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		ordinary(func() {
			levels, d := w.inHome(dir).checksOf(0)
			if text, _ := checkOf(d, "copy"); levels["copy"] != levelOK || !strings.Contains(text, "copy of "+w.home) || !strings.Contains(text, "2026-01-02") {
				t.Errorf("%v: %v", mode, d["checks"])
			}
			if levels["open"] != "" || levels["store"] != levelOK || levels["sessions"] != levelOK {
				t.Errorf("%v: %v", mode, levels)
			}
		})
		if after := tree(t, dir); after != before {
			t.Errorf("%v: before\n%s\nafter\n%s", mode, before, after)
		}
	}
	// A copy that cannot be written at all is as good for looking; a home that cannot is none.
	for copied, want := range map[bool]string{true: levelWarn, false: levelFail} {
		d := &diagnosis{}
		d.notWritable(fs.ErrPermission, copied)
		if d.worst() != want {
			t.Errorf("copy: %t: %v", copied, d.Checks)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if levels, _ := w.checksOf(0); levels["copy"] != "" {
		t.Errorf("the original: %v", levels)
	}
	if err := os.Rename(w.home, w.home+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, w.home); err != nil {
		t.Fatal(err)
	}
	if levels, _ := w.checksOf(0); levels["copy"] != "" {
		t.Errorf("put back: %v", levels)
	}
}

// tree is what lies below a directory, with its times.
func tree(t *testing.T, dir string) string {
	t.Helper()
	out := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out += fmt.Sprintln(path, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
