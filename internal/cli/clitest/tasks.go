package clitest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"
)

// Task starts a command under a shim and names it in a session's log, as an agent that is gone since would have.
func (w *World) Task(id, name, script string, keep int64) command.State {
	w.T.Helper()
	return w.TaskUnder(id, name, script, keep, "")
}

// TaskUnder is task as an agent of another boot would have left it in the log; empty is this one.
func (w *World) TaskUnder(id, name, script string, keep int64, boot string) command.State {
	w.T.Helper()
	r := &task.Runner{Dir: filepath.Join(w.Home, "acts")}
	act := "t1.s1.b" + strings.TrimPrefix(name, "bash_") + ".a1"
	err := r.Start(w.T.Context(), command.Spec{
		Version: 1, Session: id, Act: act, Argv: []string{"/bin/sh", "-c", script}, Cwd: w.Dir, KeepBytes: keep,
		Env: append([]string{"GORACE=exitcode=0"}, w.App.Environ...),
	})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() {
		if w.T.Failed() {
			log, _ := os.ReadFile(filepath.Join(r.Dir, id, act, "shim.log"))
			st, _ := r.State(id, act)
			w.T.Logf("%s is %s; its shim says %q", name, st.Status, log)
		}
		_ = r.Kill(context.Background(), id, act, "test")
	})
	st, err := r.State(id, act)
	if err != nil {
		w.T.Fatal(err)
	}
	if boot == "" {
		boot = st.BootID
	}
	w.Append(id, store.Actor{Type: store.ActorTool, ID: "Bash"}, &session.TaskStarted{Task: session.Task{
		ID: name, Act: act, Command: script, Cwd: w.Dir, PID: st.PID, StartTicks: st.StartTicks, BootID: boot,
	}})
	return st
}

// TaskLine is what task list says of a task.
func (w *World) TaskLine(id, name string) map[string]any {
	w.T.Helper()
	for _, l := range Lines(w.T, w.OK("task", "list", id, "--json")) {
		if l["id"] == name {
			return l
		}
	}
	w.T.Fatalf("task %s is not listed", name)
	return nil
}

// AwaitTask waits until a task has a status, and gives its line of task list.
func (w *World) AwaitTask(id, name, status string) map[string]any {
	w.T.Helper()
	var l map[string]any
	Until(w.T, name+" is "+status, func() bool { l = w.TaskLine(id, name); return l["status"] == status })
	return l
}

// Zombie reports whether a process has ended and nobody has collected it yet.
func Zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(b), ") Z ")
}

// RunTask starts a task by the verb and waits until it has printed.
func (w *World) RunTask(args ...string) (id string) {
	w.T.Helper()
	var started struct {
		SessionID string `json:"session_id"`
		ID        string `json:"id"`
	}
	if err := json.Unmarshal([]byte(w.OK(append([]string{"task", "run", "--json"}, args...)...)), &started); err != nil {
		w.T.Fatal(err)
	}
	Until(w.T, "the task prints", func() bool { return w.OK("task", "output", started.SessionID, started.ID) != "" })
	w.T.Cleanup(func() { w.Run("task", "kill", started.SessionID, "--all") })
	return started.SessionID
}

// Hold runs a session in this process until ctx ends, everything allowed.
func (w *World) Hold(ctx context.Context, id, script string) {
	h := w.Open(script)
	defer w.Close(h)
	opt := homes.RunOptions{Prompt: "go"}
	opt.Mode = permission.ModeBypass
	if _, err := h.Run(ctx, id, opt); err != nil {
		w.T.Error(err)
	}
}
