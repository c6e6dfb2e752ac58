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
