package tools

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Goal: what is to be awaited is read in all its forms, and the words say what will be told.
func TestAwait(t *testing.T) {
	w, _ := newTask(t, "", running)
	w.State.Tasks[0].Act, w.State.Tasks[0].Position = "t1.s1.b1.a1", 40
	end := ". If there is nothing else to do, end your turn now."
	w.golden(w.call("Await", obj{"bash_id": "bash_1"}), false, "await_1: you will be told when bash_1 ends"+end)
	w.golden(w.call("Await", obj{"bash_id": "bash_1"}), false, "await_1 waits for that already: you will be told.")
	w.golden(w.call("Await", obj{"bash_id": "bash_1", "pattern": "a+", "after_seconds": "90", "note": "n"}), false,
		"await_2: you will be told when bash_1 prints a line that matches /a+/, or after 90 s if that has not happened"+end)
	w.golden(w.call("Await", obj{"after_seconds": 1e9}), false, "await_3: you will be told after 2592000 s"+end) // 30 days
	want := []session.Await{
		{ID: "await_1", Event: session.AwaitEnd, Task: "bash_1", TaskAct: "t1.s1.b1.a1", Act: "t1.s1.b1.a1", Seq: 1},
		{
			ID: "await_2", Event: session.AwaitLine, Task: "bash_1", TaskAct: "t1.s1.b1.a1", Act: "t1.s1.b1.a1", Pattern: "a+", From: 40,
			Position: 40, AfterMS: 90_000, At: 90_000, Note: "n", Seq: 2,
		},
		{ID: "await_3", Event: session.AwaitTimer, Act: "t1.s1.b1.a1", AfterMS: session.MaxAwaitMS, At: session.MaxAwaitMS, Seq: 3},
	}
	for i, a := range w.State.Awaits {
		if a != want[i] {
			t.Errorf("%+v\nwant %+v", a, want[i])
		}
	}
	for input, why := range map[string]string{
		`{"bash_id":"bash_9"}`:                `no task "bash_9"`,
		`{}`:                                  "a timer needs a time",
		`{"bash_id":"bash_1","pattern":"("}`:  "no RE2 regular expression",
		`{"bash_id":"bash_1","event":"line"}`: "line needs a pattern",
		`{"bash_id":"bash_1","event":"end","pattern":"x"}`: "end needs no pattern",
		`{"event":"end"}`: "end needs a task",
		`{"event":"timer","bash_id":"bash_1","after_seconds":1}`:         "timer needs no task",
		`{"event":"moon","after_seconds":1}`:                             `nothing is called "moon"`,
		`{"after_seconds":-1}`:                                           `"after_seconds" must be at least 1`,
		`{"after_seconds":1,"note":"` + strings.Repeat("n", 1001) + `"}`: "the note has 1001 bytes",
		`{"cancel":["await_1","await_9"]}`:                               "await_1 is cancelled\nawait_9 is not open",
		`{"cancel":[]}`:                                                  "no id to cancel",
	} {
		w.contains(w.call("Await", input), true, why)
	}
	if len(w.State.Awaits) != 2 || w.State.Awaits[0].ID != "await_2" {
		t.Errorf("open: %v", w.State.Awaits)
	}
}

// Goal: one more than the bound is refused, and says what can be done.
func TestAwaitBound(t *testing.T) {
	w, _ := newTask(t, "", running)
	for i := range session.MaxAwaits {
		if r := w.call("Await", obj{"after_seconds": 1 + i}); r.IsError {
			t.Fatalf("%d: %s", i, model.Text(r.Content))
		}
	}
	w.golden(w.call("Await", obj{"after_seconds": 1}), true, "64 awaits are open, more are not allowed: cancel some")
}

// Goal: a look that tells of the end closes what awaits the end, and nothing else.
func TestBashOutputClosesAwaits(t *testing.T) {
	w, task := newTask(t, "out\n", running)
	w.call("Await", obj{"bash_id": "bash_1"})
	w.call("Await", obj{"bash_id": "bash_1", "pattern": "x"})
	w.call("BashOutput", obj{"bash_id": "bash_1"})
	if len(w.State.Awaits) != 2 {
		t.Errorf("while it runs: %v", w.State.Awaits)
	}
	task.st = code(1)
	w.call("BashOutput", obj{"bash_id": "bash_1"})
	if len(w.State.Awaits) != 1 || w.State.Awaits[0].Event != session.AwaitLine {
		t.Errorf("after its end: %v", w.State.Awaits)
	}
}
