package care_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A backup is a home of its own, with everything that sessions have, and is made while another process writes.
func TestBackup(t *testing.T) {
	w := clitest.New(t)
	w.Fails(1, "nothing to back up", "backup", filepath.Join(w.Dir, "none"))
	w.Eventful("s1")
	w.Create("s2")
	w.Prompt("s2", clitest.Asking("Bash", map[string]any{"command": "seq 20000; echo the end"}), "go", "bypass")
	w.OK("memory", "add", "keep this", "--key", "kept")
	h := w.Open("{}")
	defer w.Close(h)
	dir := filepath.Join(w.Dir, "copy")
	got := strings.TrimSpace(w.OK("backup", dir))
	if real, err := filepath.EvalSymlinks(dir); err != nil || got != real {
		t.Errorf("it says %q", got)
	}
	w.Fails(2, "exists", "backup", dir)
	link := filepath.Join(w.Dir, "link")
	if err := os.Symlink(w.Home, link); err != nil {
		t.Fatal(err)
	}
	for _, inside := range []string{filepath.Join(w.Home, "copy"), filepath.Join(w.Home, "acts", "copy"), filepath.Join(link, "acts", "copy")} {
		w.Fails(1, "inside of the home", "backup", inside) // it would copy its own copy, and that one's
		if _, err := os.Stat(inside + ".partial"); err == nil {
			t.Errorf("%s is left", inside)
		}
	}
	log, show := w.OK("log", "s1", "--json"), w.OK("show", "s1", "--all")
	there := *w
	there.Home = dir
	app := *w.App
	app.Environ = append([]string{"PERDURE_HOME=" + dir}, w.App.Environ...)
	there.App = &app
	if got := there.OK("log", "s1", "--json"); got != log {
		t.Error("the log of the copy differs")
	}
	if got := there.OK("show", "s1", "--all"); got != show {
		t.Errorf("show differs: %s\nwant %s", got, show)
	}
	there.OK("verify", "--all")
	if files, err := filepath.Glob(filepath.Join(dir, "outputs", "s2", "*")); err != nil || len(files) == 0 {
		t.Errorf("outputs: %v, %v", files, err)
	}
	there.OK("memory", "show", "kept")
	there.Create("later")
	w.Fails(4, "no session", "show", "later")
}
