package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inHome is a world whose PERDURE_HOME is another one.
func (w *world) inHome(home string) *world {
	other, app := *w, *w.app
	app.Environ = append([]string{"PERDURE_HOME=" + home}, w.app.Environ...)
	other.app = &app
	return &other
}

// A ~ that no shell expanded, as in a unit or an env file, makes no directory of that name.
func TestHomeWithATilde(t *testing.T) {
	w := newWorld(t)
	t.Chdir(t.TempDir())
	for _, home := range []string{"~", "~/x", "~root/x"} {
		w.inHome(home).fails(2, "only a shell expands", "list")
	}
	if _, err := os.Lstat("~"); err == nil {
		t.Error("a directory is named ~ now")
	}
}

// In a backup the original's commands cannot be ended, and it says whose they are.
func TestTaskKillInABackup(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	st := w.task("s1", "bash_1", "sleep 1000", 0)
	dir := filepath.Join(t.TempDir(), "copy")
	w.ok("backup", dir)
	c := w.inHome(dir)
	if o := c.run("task", "kill", "s1", "bash_1"); o.code != 0 || !strings.Contains(o.stderr, "belongs to the home that this one is a copy of") || strings.Contains(o.stderr, "ended") {
		t.Errorf("%+v", o)
	}
	c.ok("delete", "-y", "s1")
	if err := syscall.Kill(st.PID, 0); err != nil || zombie(st.PID) {
		t.Errorf("the original's command: %v", err)
	}
	if l := w.taskLine("s1", "bash_1"); l["status"] != "running" {
		t.Errorf("the original: %v", l)
	}
}

// Goal: a relative PERDURE_HOME means one place from the start on: below the directory that the command was started in,
// whatever directory the session works in; what commands inherit, and what is said to be typed elsewhere, is absolute.
func TestRelativeHome(t *testing.T) {
	w := newWorld(t)
	sub := filepath.Join(w.dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(w.dir, "here", "home")
	c := w.inHome("here/home")
	script := `{"turns":[{"steps":[{"tools":[{"name":"Bash","input":{"command":"cd sub && env | grep ERDURE_HO"}},{"name":"Bash","input":{"command":"echo now; env | grep ERDURE_HO"}}]},{"text":"ok"}]}]}`
	o := c.run("-p", "--session-id", "s", "--model", c.scripted(script), "--dangerously-skip-permissions", "--output-format", "json", "go")
	log := c.ok("log", "s", "--json")
	if o.code != 0 || strings.Count(log, "PERDURE_HOME="+at) != 2 || strings.Contains(log, "PERDURE_HOME=here") {
		t.Fatalf("exit %d\n%s\n%s", o.code, o.stderr, log)
	}
	for _, place := range []string{filepath.Join(sub, "here"), "here"} {
		if _, err := os.Lstat(place); err == nil {
			t.Errorf("%s was made", place)
		}
	}
	if text := c.run("doctor").stdout + c.fails(4, "no session", "show", "nobody").stderr; strings.Contains(text, "PERDURE_HOME=here") || !strings.Contains(text, at) {
		t.Errorf("relative: %s", text)
	}
	c.app.Dir = sub // as from another directory, by the absolute path
	if text := w.inHome(at).ok("list"); !strings.Contains(text, "s") {
		t.Errorf("list: %s", text)
	}
	c.fails(4, "", "show", "s")
	_ = w.inHome(at).run("delete", "-y", "s")
}
