package attack_test

import (
	"strings"
	"testing"
)

// What a command leaves behind is a task that runs until the last of it has ended: neither the model nor a person is
// told otherwise.
func TestStragglersKeepATaskRunning(t *testing.T) {
	w := newWorld(t)
	w.want(0, run1("s", w.model(
		calls(bash("for i in 1 2 3; do sleep 300 & done; echo left")), calls(bash("sleep 0.3")), calls(call{"BashOutput", map[string]any{"bash_id": "bash_1"}}),
	), bypass)...)
	if o := w.want(0, "log", "s"); strings.Contains(o.out, "task.exited") {
		t.Errorf("its end is in the log: %s", o)
	}
	if o := w.want(0, "show", "s", "--messages"); strings.Contains(o.out, "bash_1 ended") {
		t.Errorf("the model is told that it ended: %s", o)
	}
	if o := w.want(0, "-p", "-r", "s", "more"); !strings.Contains(o.stderr, "bash_1") {
		t.Errorf("what runs on is not told: %s", o)
	}
	w.want(0, "task", "kill", "s", "bash_1")
	w.until("the end", func() bool { return len(w.pids()) == 0 })
	w.perdure("-p", "-r", "s")
	if o := w.want(0, "log", "s"); strings.Count(o.out, "task.exited") != 1 {
		t.Errorf("its end is not in the log: %s", o)
	}
	w.verify("s")
}
