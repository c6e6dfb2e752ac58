package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A ~ that no shell expanded, as in a unit or an env file, makes no directory of that name.
func TestHomeWithATilde(t *testing.T) {
	w := clitest.New(t)
	t.Chdir(t.TempDir())
	for _, home := range []string{"~", "~/x", "~root/x"} {
		w.InHome(home).Fails(2, "only a shell expands", "list")
	}
	if _, err := os.Lstat("~"); err == nil {
		t.Error("a directory is named ~ now")
	}
}

// In a backup the original's commands cannot be ended, and it says whose they are.
func TestTaskKillInABackup(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	st := w.Task("s1", "bash_1", "sleep 1000", 0)
	dir := filepath.Join(t.TempDir(), "copy")
	w.OK("backup", dir)
	c := w.InHome(dir)
	if o := c.Run("task", "kill", "s1", "bash_1"); o.Code != 0 || !strings.Contains(o.Stderr, "belongs to the home that this one is a copy of") || strings.Contains(o.Stderr, "ended") {
		t.Errorf("%+v", o)
	}
	c.OK("delete", "-y", "s1")
	if err := syscall.Kill(st.PID, 0); err != nil || clitest.Zombie(st.PID) {
		t.Errorf("the original's command: %v", err)
	}
	if l := w.TaskLine("s1", "bash_1"); l["status"] != "running" {
		t.Errorf("the original: %v", l)
	}
}

// Goal: a relative PERDURE_HOME means one place from the start on: below the directory that the command was started in,
// whatever directory the session works in; what commands inherit, and what is said to be typed elsewhere, is absolute.
func TestRelativeHome(t *testing.T) {
	w := clitest.New(t)
	sub := filepath.Join(w.Dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(w.Dir, "here", "home")
	c := w.InHome("here/home")
	script := `{"turns":[{"steps":[{"tools":[{"name":"Bash","input":{"command":"cd sub && env | grep ERDURE_HO"}},{"name":"Bash","input":{"command":"echo now; env | grep ERDURE_HO"}}]},{"text":"ok"}]}]}`
	o := c.Run("-p", "--session-id", "s", "--model", c.Scripted(script), "--dangerously-skip-permissions", "--output-format", "json", "go")
	log := c.OK("log", "s", "--json")
	if o.Code != 0 || strings.Count(log, "PERDURE_HOME="+at) != 2 || strings.Contains(log, "PERDURE_HOME=here") {
		t.Fatalf("exit %d\n%s\n%s", o.Code, o.Stderr, log)
	}
	for _, place := range []string{filepath.Join(sub, "here"), "here"} {
		if _, err := os.Lstat(place); err == nil {
			t.Errorf("%s was made", place)
		}
	}
	if text := c.Run("doctor").Stdout + c.Fails(4, "no session", "show", "nobody").Stderr; strings.Contains(text, "PERDURE_HOME=here") || !strings.Contains(text, at) {
		t.Errorf("relative: %s", text)
	}
	c.App.Dir = sub // as from another directory, by the absolute path
	if text := w.InHome(at).OK("list"); !strings.Contains(text, "s") {
		t.Errorf("list: %s", text)
	}
	c.Fails(4, "", "show", "s")
	_ = w.InHome(at).Run("delete", "-y", "s")
}
