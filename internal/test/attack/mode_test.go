package attack_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whatever the umask, nothing below the home can be seen by another user: not with tasks, kept outputs, forks. The files of
// a session's own directory have the modes of the project's; nobody else gets as far as them.
func TestModes(t *testing.T) {
	w := newWorld(t)
	old := syscall.Umask(0) // other tests of this process make private files explicitly
	defer syscall.Umask(old)
	w.want(0, run1("s", w.model(
		calls(bash("seq 100000; touch in-work"), background("echo started; sleep 300"), call{"Write", map[string]any{"file_path": "f", "content": "x"}}),
	), bypass)...)
	w.want(0, "fork", "s", "--id", "child")
	w.want(0, append([]string{"-p", "-r", "child"}, "again")...)
	n, own := 0, ""
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if rel, err := filepath.Rel(filepath.Join(w.home, "isolated"), path); err == nil && d.IsDir() && !strings.HasPrefix(rel, "..") && strings.Count(rel, "/") == 1 {
			own = path
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !exists(filepath.Join(own, "f")) {
		t.Error("the fork has no directory of its own: there was nothing to look at")
	}
	if n < 15 {
		t.Errorf("only %d files: there was nothing to look at", n)
	}
	if len(w.search(filepath.Join(w.home, "outputs"), "99999")) == 0 {
		t.Error("no output was kept")
	}
	w.want(0, "task", "kill", "s", "bash_1")
}
