package tools

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

var running = command.State{Status: command.Running}

func newTask(t *testing.T, out string, st command.State) (*world, *fakeTask) {
	w := newWorld(t)
	w.State.Tasks = []session.Task{{ID: "bash_1", Ending: command.Ending{Status: command.Running}}}
	task := &fakeTask{out: out, st: st}
	w.Tasks = fakeTasks{"bash_1": task}
	return w, task
}

// Goal: each look gives only what is new, and how the task stands.
func TestBashOutputNews(t *testing.T) {
	w, task := newTask(t, "one\n", running)
	look := obj{"bash_id": "bash_1"}
	w.golden(w.call("BashOutput", look), false, "one\nbash_1 is running")
	w.golden(w.call("BashOutput", look), false, "(no new output)\nbash_1 is running")
	task.out += "two\nthree"
	w.golden(w.call("BashOutput", look), false, "two\nthree\nbash_1 is running")
	task.out += " and more\n"
	task.st = code(0)
	w.golden(w.call("BashOutput", look), false, " and more\nbash_1 has ended\nexit code 0")
	w.golden(w.call("BashOutput", look), false, "(no new output)\nbash_1 has ended\nexit code 0")
	if got := w.State.Tasks[0]; got.Position != int64(len(task.out)) || !got.Told {
		t.Errorf("state: %+v", got)
	}
	task.st = command.State{Status: command.Killed, Signal: "SIGTERM", By: "user"}
	w.golden(w.call("BashOutput", look), false, "(no new output)\nbash_1 was killed by SIGTERM, sent by the user")
	task.st = command.State{Status: command.Lost, Reason: "shim_died"}
	w.golden(w.call("BashOutput", look), false,
		"(no new output)\nbash_1 is lost (shim_died): the process that watched it died; how it ended is unknown")
}

// Goal: the end of a task is told once as an event, even when nothing more was printed; then looks change nothing.
func TestBashOutputTold(t *testing.T) {
	w, _ := newTask(t, "", code(0))
	w.call("BashOutput", obj{"bash_id": "bash_1"})
	if !w.State.Tasks[0].Told {
		t.Error("the end was told, but the state does not know")
	}
	seq := w.State.Head.Seq
	w.call("BashOutput", obj{"bash_id": "bash_1"})
	if w.State.Head.Seq != seq {
		t.Error("a look without news is an event")
	}
}

// Goal: a look that ends in the middle of a character, an escape or (with a filter) a line leaves it for the next.
func TestBashOutputTorn(t *testing.T) {
	w, task := newTask(t, "", running)
	whole := "grün \x1b[31mred\x1b[0m rot\nerror: ü\nok\n"
	var got strings.Builder
	for i := range whole {
		for _, n := range []int{i, i + 1} {
			task.out = whole[:max(n, len(task.out))]
			text := model.Text(w.call("BashOutput", obj{"bash_id": "bash_1"}).Content)
			text = strings.TrimSuffix(text, "\nbash_1 is running")
			if text != "(no new output)" {
				got.WriteString(text)
			}
		}
	}
	if want := "grün red roterror: üok"; got.String() != want { // newlines at an end are not shown
		t.Errorf("in pieces: %q", got.String())
	}
	w, task = newTask(t, "an err", running)
	look := obj{"bash_id": "bash_1", "filter": "^an error"}
	w.golden(w.call("BashOutput", look), false, "(no new output)\nbash_1 is running")
	task.out += "or\nother\nan error again"
	w.golden(w.call("BashOutput", look), false, "an error\nbash_1 is running")
	task.st = code(2)
	w.golden(w.call("BashOutput", look), false, "an error again\nbash_1 has ended\nexit code 2")
	task.out += "\nx\ny\n"
	w.golden(w.call("BashOutput", look), false, "(no new line matches the filter; 3 new lines were skipped)\nbash_1 has ended\nexit code 2")
}

// Goal: much new output is shown as beginning and end with the rest counted, and the position moves to the end.
func TestBashOutputLong(t *testing.T) {
	out := strings.Repeat("0123456789abcde\n", 100_000)
	w, _ := newTask(t, out, running)
	text := model.Text(w.call("BashOutput", obj{"bash_id": "bash_1"}).Content)
	m := regexp.MustCompile(`(?m)^\[(\d+) bytes omitted\]\n`).FindStringSubmatchIndex(text)
	if m == nil {
		t.Fatalf("no mark in %d bytes", len(text))
	}
	n, _ := strconv.Atoi(text[m[2]:m[3]])
	tail := strings.TrimSuffix(text[m[1]:], "bash_1 is running")
	if m[0]+n+len(tail) != len(out) || m[0] == 0 || tail == "" || m[0]+len(tail) > maxOutput {
		t.Errorf("%d + %d + %d of %d", m[0], n, len(tail), len(out))
	}
	w.golden(w.call("BashOutput", obj{"bash_id": "bash_1"}), false, "(no new output)\nbash_1 is running")
}

// Goal: bytes that are no longer kept are named, in the text and in the event.
func TestBashOutputGap(t *testing.T) {
	w, task := newTask(t, strings.Repeat("old\n", 100)+"new\n", running)
	task.keep = 400
	c := Call{Name: "BashOutput", Input: []byte(`{"bash_id":"bash_1"}`)}
	r, err := bashOutput{}.Run(t.Context(), c, w.Env)
	if err != nil {
		t.Fatal(err)
	}
	w.golden(r, false, "[400 bytes omitted]\nnew\nbash_1 is running")
	if e, ok := r.Events[0].(*session.TaskRead); !ok || *e != (session.TaskRead{Task: "bash_1", Position: 404, Gap: 400}) {
		t.Errorf("event: %+v", r.Events)
	}
}

// Goal: ids that are not there and bad filters are refused with what would be right.
func TestBashOutputRefusals(t *testing.T) {
	w, _ := newTask(t, "", running)
	w.State.Tasks = append(w.State.Tasks, session.Task{ID: "bash_2", Ending: command.Ending{Status: command.Running}})
	w.golden(w.call("BashOutput", obj{"bash_id": "bash_9"}), true, `no task "bash_9": there are bash_1, bash_2`)
	w.golden(w.call("BashOutput", obj{"bash_id": "bash_2"}), true,
		"(its output is no longer kept)\nbash_2 is lost (dir_missing): its record is gone; how it ended is unknown")
	w.contains(w.call("BashOutput", obj{"bash_id": "bash_1", "filter": "a(?=b)"}), true, `"filter" is no RE2 regular expression`)
	w.State.Tasks = nil
	w.golden(w.call("BashOutput", obj{"bash_id": "bash_1"}), true, `no task "bash_1": no command runs in the background`)
	w.State = nil
	w.contains(w.call("KillBash", obj{"shell_id": "bash_1"}), true, "no command runs")
}

// Goal: killing is told per task, is harmless twice, and never reaches a task of the parent session.
func TestKillBash(t *testing.T) {
	w, task := newTask(t, "", running)
	w.golden(w.call("KillBash", obj{"shell_id": "bash_1"}), false, "bash_1 was killed by SIGKILL, sent by the agent")
	w.golden(w.call("KillBash", obj{"shell_id": []string{"bash_1"}}), false, "bash_1 was killed by SIGKILL, sent by the agent")
	if task.killed != 2 {
		t.Errorf("killed %d times", task.killed)
	}
	zero := 0
	w.State.Tasks = []session.Task{
		{ID: "bash_1", Ending: command.Ending{Status: command.Running}},
		{ID: "bash_2", Ending: command.Ending{Status: command.Exited, ExitCode: &zero}},
		{ID: "bash_3", Session: "parent", Ending: command.Ending{Status: command.Running}},
	}
	parents := &fakeTask{st: running}
	w.Tasks.(fakeTasks)["bash_3"] = parents
	w.golden(w.call("KillBash", obj{"shell_id": []string{"bash_2", "bash_3", "bash_4"}}), true, "bash_2 has ended\nexit code 0\n"+
		"bash_3 belongs to the session that this one was forked from; only that one can end it\n"+
		`no task "bash_4": there are bash_1, bash_2, bash_3`)
	if parents.killed != 0 {
		t.Error("the parent's task was killed")
	}
	w.contains(w.call("KillBash", `{"shell_id":[]}`), true, `"shell_id" is missing`)
}
