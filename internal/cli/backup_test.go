package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A backup is a home of its own, with everything that sessions have, and is made while another process writes.
func TestBackup(t *testing.T) {
	w := newWorld(t)
	w.fails(1, "nothing to back up", "backup", filepath.Join(w.dir, "none"))
	w.eventful("s1")
	w.create("s2")
	w.prompt("s2", asking("Bash", map[string]any{"command": "seq 20000; echo the end"}), "go", "bypass")
	h := w.open("{}")
	defer w.close(h)
	dir := filepath.Join(w.dir, "copy")
	got := strings.TrimSpace(w.ok("backup", dir))
	if real, err := filepath.EvalSymlinks(dir); err != nil || got != real {
		t.Errorf("it says %q", got)
	}
	w.fails(2, "exists", "backup", dir)
	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(w.home, link); err != nil {
		t.Fatal(err)
	}
	for _, inside := range []string{filepath.Join(w.home, "copy"), filepath.Join(w.home, "acts", "copy"), filepath.Join(link, "acts", "copy")} {
		w.fails(1, "inside of the home", "backup", inside) // it would copy its own copy, and that one's
		if _, err := os.Stat(inside + ".partial"); err == nil {
			t.Errorf("%s is left", inside)
		}
	}
	log, show := w.ok("log", "s1", "--json"), w.ok("show", "s1", "--all")
	there := *w
	there.home = dir
	app := *w.app
	app.Environ = append([]string{"PERDURE_HOME=" + dir}, w.app.Environ...)
	there.app = &app
	if got := there.ok("log", "s1", "--json"); got != log {
		t.Error("the log of the copy differs")
	}
	if got := there.ok("show", "s1", "--all"); got != show {
		t.Errorf("show differs: %s\nwant %s", got, show)
	}
	there.ok("verify", "--all")
	if files, err := filepath.Glob(filepath.Join(dir, "outputs", "s2", "*")); err != nil || len(files) == 0 {
		t.Errorf("outputs: %v, %v", files, err)
	}
	there.create("later")
	w.fails(4, "no session", "show", "later")
}
