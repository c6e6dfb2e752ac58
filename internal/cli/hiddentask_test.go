package cli

import (
	"strings"
	"testing"
)

// Goal: a task whose command line holds a secret that was none when it was started is not run again from the log, by a
// restart, which then ends nothing, nor after a reboot; the words say what to do.
func TestTaskWithASecretIsNotRestarted(t *testing.T) {
	const value = "tok_9f8e7d6c5b4a3210"
	w := newWorld(t)
	id := w.runTask("--name", "web", "--restart", "on-reboot", "--", "sh", "-c", "echo up; exec sleep 600", value)
	w.app.Environ = append(w.app.Environ, "WEB_TOKEN="+value)
	before := w.taskLine("web", "bash_1")
	o := w.run("task", "restart", "web")
	if o.code == 0 || !strings.Contains(o.stderr, "start it anew") {
		t.Errorf("restart: %+v", o)
	}
	if after := w.taskLine("web", "bash_1"); after["status"] != "running" || after["pid"] != before["pid"] {
		t.Errorf("restart ended it: %v", after)
	}
	if o := w.run("task", "restart-policy", "web", "on-reboot"); o.code == 0 || !strings.Contains(o.stderr, "start it anew") {
		t.Errorf("restart-policy: %+v", o)
	}
	w.reboot()
	o = w.run("task", "restore")
	if o.code != exitFailed || o.stdout != "" || !strings.Contains(o.stderr, id+" bash_1 stays down: the command held") {
		t.Errorf("restore: %+v", o)
	}
	if l := w.taskLine("web", "bash_1"); l["status"] != "lost" || !strings.Contains(l["not_restarted"].(string), "start it anew") {
		t.Errorf("listed as %v", l)
	}
}
