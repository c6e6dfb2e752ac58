package care_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/care"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: doctor of a backup, also of one that is closed to writing, says that it is a copy, whose, and of when; it finds
// nothing wrong with it and changes nothing. Where the copy was put in its original's place it is none.
func TestDoctorOfABackup(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.Prompt("s", clitest.Asking("Bash", map[string]any{"command": "seq 20000"}), "go", "bypass")
	dir := filepath.Join(t.TempDir(), "copy")
	w.OK("backup", dir)
	for _, mode := range []os.FileMode{0o700, 0o500} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		ordinary(func() {
			levels, d := w.InHome(dir).ChecksOf(0)
			if text, _ := checkOf(d, "copy"); levels["copy"] != "ok" || !strings.Contains(text, "copy of "+w.Home) || !strings.Contains(text, "2026-01-02") {
				t.Errorf("%v: %v", mode, d["checks"])
			}
			if levels["open"] != "" || levels["store"] != "ok" || levels["sessions"] != "ok" {
				t.Errorf("%v: %v", mode, levels)
			}
		})
		if after := tree(t, dir); after != before {
			t.Errorf("%v: before\n%s\nafter\n%s", mode, before, after)
		}
	}
	// A copy that cannot be written at all is as good for looking; a home that cannot is none.
	for copied, want := range map[bool]string{true: "warn", false: "fail"} {
		if got := care.NotWritable(fs.ErrPermission, copied); got != want {
			t.Errorf("copy: %t: %s", copied, got)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if levels, _ := w.ChecksOf(0); levels["copy"] != "" {
		t.Errorf("the original: %v", levels)
	}
	if err := os.Rename(w.Home, w.Home+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, w.Home); err != nil {
		t.Fatal(err)
	}
	if levels, _ := w.ChecksOf(0); levels["copy"] != "" {
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
