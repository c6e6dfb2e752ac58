package tasks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a task needs no session and no model, its argv is run as it is, and restarting keeps its id and its history.
func TestTaskRun(t *testing.T) {
	w := clitest.New(t)
	out := w.OK("task", "run", "--name", "web", "--json", "--", "sh", "-c", "echo \"$0 $1\"; exec sleep 60", "a b", "--json")
	var started struct {
		SessionID string `json:"session_id"`
		ID        string `json:"id"`
		PID       int    `json:"pid"`
	}
	if err := json.Unmarshal([]byte(out), &started); err != nil || started.ID != "bash_1" || started.PID == 0 {
		t.Fatalf("%q: %v", out, err)
	}
	clitest.Until(t, "the task prints its arguments", func() bool {
		return w.OK("task", "output", "web", "bash_1") == "a b --json\n"
	})
	w.OK("task", "restart", "web", "bash_1")
	var line struct {
		Status   string `json:"status"`
		PID      int    `json:"pid"`
		Attempt  int    `json:"attempt"`
		Attempts []any  `json:"attempts"`
	}
	if err := json.Unmarshal([]byte(w.OK("task", "list", started.SessionID, "--json")), &line); err != nil {
		t.Fatal(err)
	}
	if line.Status != "running" || line.Attempt != 2 || len(line.Attempts) != 1 || line.PID == started.PID {
		t.Errorf("%+v", line)
	}
	w.OK("task", "kill", "web", "bash_1")
	if got := w.OK("verify", "web"); !strings.Contains(got, "ok") {
		t.Error(got)
	}
}

// Goal: all tasks but one are ended in one go, and a misnamed one signals nobody.
func TestTaskKillAll(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--", "sleep", "60")
	w.OK("task", "run", "--session", "x", "--", "sleep", "61")
	w.OK("task", "run", "--session", "x", "--", "sleep", "62")
	w.Fails(app.ExitUsage, "not both", "task", "kill", "x", "bash_1", "--all")
	w.Create("s")
	w.Fails(app.ExitUsage, "name them", "task", "kill", "s")
	w.Fails(app.ExitMissing, "bash_9", "task", "kill", "x", "--all", "--except", "bash_9")
	w.OK("task", "kill", "x", "--all", "--except", "bash_2")
	var got []string
	for _, l := range clitest.Lines(t, w.OK("task", "list", "x", "--json")) {
		got = append(got, l["id"].(string)+" "+l["status"].(string))
	}
	if strings.Join(got, ", ") != "bash_1 killed, bash_2 running, bash_3 killed" {
		t.Errorf("%v", got)
	}
	w.OK("task", "kill", "x", "--all")
}

// Goal: what cannot run says why, and a refused request starts nothing.
func TestTaskRunRefused(t *testing.T) {
	w := clitest.New(t)
	w.Fails(app.ExitUsage, "a command", "task", "run")
	w.Fails(app.ExitUsage, "restart policy", "task", "run", "--restart", "always", "--", "true")
	w.Fails(app.ExitMissing, "nobody", "task", "run", "--session", "nobody", "--", "true")
	w.Fails(app.ExitMissing, "no-such-program-here: command not found", "task", "run", "--name", "x", "--", "no-such-program-here")
}
