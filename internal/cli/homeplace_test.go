package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// inHome is a world whose PERDURE_HOME is another one.
func inHome(w *clitest.World, home string) *clitest.World {
	other, app := *w, *w.App
	app.Environ = append([]string{"PERDURE_HOME=" + home}, w.App.Environ...)
	other.App = &app
	return &other
}

// A ~ that no shell expanded, as in a unit or an env file, makes no directory of that name.
func TestHomeWithATilde(t *testing.T) {
	w := clitest.New(t)
	t.Chdir(t.TempDir())
	for _, home := range []string{"~", "~/x", "~root/x"} {
		inHome(w, home).Fails(2, "only a shell expands", "list")
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
	c := inHome(w, dir)
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
