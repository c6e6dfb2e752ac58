package tasks_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a task whose command line holds a secret that was none when it was started is not run again from the log, by a
// restart, which then ends nothing, nor after a reboot; the words say what to do.
func TestTaskWithASecretIsNotRestarted(t *testing.T) {
	const value = "tok_9f8e7d6c5b4a3210"
	w := clitest.New(t)
	id := w.RunTask("--name", "web", "--restart", "on-reboot", "--", "sh", "-c", "echo up; exec sleep 600", value)
	w.App.Environ = append(w.App.Environ, "WEB_TOKEN="+value)
	before := w.TaskLine("web", "bash_1")
	o := w.Run("task", "restart", "web")
	if o.Code == 0 || !strings.Contains(o.Stderr, "start it anew") {
		t.Errorf("restart: %+v", o)
	}
	if after := w.TaskLine("web", "bash_1"); after["status"] != "running" || after["pid"] != before["pid"] {
		t.Errorf("restart ended it: %v", after)
	}
	if o := w.Run("task", "restart-policy", "web", "on-reboot"); o.Code == 0 || !strings.Contains(o.Stderr, "start it anew") {
		t.Errorf("restart-policy: %+v", o)
	}
	reboot(w)
	o = w.Run("task", "restore")
	if o.Code != app.ExitFailed || o.Stdout != "" || !strings.Contains(o.Stderr, id+" bash_1 stays down: the command held") {
		t.Errorf("restore: %+v", o)
	}
	if l := w.TaskLine("web", "bash_1"); l["status"] != "lost" || !strings.Contains(l["not_restarted"].(string), "start it anew") {
		t.Errorf("listed as %v", l)
	}
}
