package tasks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a script waits for a task's end or a line with no model and no lease, and exit codes tell what came.
func TestTaskWait(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--", "sh", "-c", "echo booting; printf 'port \\033[1m8080\\033[0m\\n'; sleep 0.3; exit 3")
	if got := w.OK("task", "wait", "x", "bash_1", "--for-line", "^port [0-9]+$"); got != "port 8080\n" {
		t.Errorf("line: %q", got)
	}
	if o := w.Run("task", "wait", "bash_1", "--timeout", "20s"); o.Stdout != "bash_1 exited 3\n" || o.Code != 3 { // no other session has one of that id
		t.Errorf("end: %+v", o)
	}
	w.Fails(app.ExitFailed, "bash_1 exited 3, and no line matched", "task", "wait", "x", "bash_1", "--for-line", "never")
	var news struct {
		Task struct {
			Status string `json:"status"`
			Code   int    `json:"exit_code"`
		} `json:"task"`
		Line     *string `json:"line"`
		TimedOut bool    `json:"timed_out"`
	}
	if err := json.Unmarshal([]byte(w.OK("task", "wait", "x", "bash_1", "--json", "--for-line", "boot")), &news); err != nil ||
		news.Task.Status != "exited" || news.Task.Code != 3 || news.Line == nil || *news.Line != "booting" {
		t.Errorf("%v: %+v", err, news)
	}
	w.OK("task", "run", "--session", "x", "--", "sleep", "60")
	o := w.Fails(app.ExitLimit, "after 100ms: bash_2 running", "task", "wait", "x", "bash_2", "--timeout", "100ms", "--json")
	if err := json.Unmarshal([]byte(o.Stdout), &news); err != nil || !news.TimedOut || news.Task.Status != "running" {
		t.Errorf("%v: %s", err, o.Stdout)
	}
	w.Fails(app.ExitLimit, "", "task", "wait", "x", "bash_2", "--timeout", "50ms", "--for-line", "x")
	w.Fails(app.ExitMissing, "bash_9", "task", "wait", "x", "bash_9")
	w.Fails(app.ExitUsage, "--for-line", "task", "wait", "x", "bash_1", "--for-line", "(")
	w.Fails(app.ExitUsage, "--timeout", "task", "wait", "x", "bash_1", "--timeout", "-1s")
	w.OK("task", "kill", "x", "bash_2")
	if o := w.Run("task", "wait", "x", "bash_2"); !strings.HasPrefix(o.Stdout, "bash_2 killed") || o.Code != 143 {
		t.Errorf("%+v", o)
	}
}
