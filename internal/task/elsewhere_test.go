package task_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/task"
)

// What a command that ran in another home is told by: how it ended and its last output, at the offset that it had. It
// names no process, so nothing is ever signalled for it.
func TestImportedCommandIsOver(t *testing.T) {
	r := &task.Runner{Dir: filepath.Join(t.TempDir(), "acts")}
	code := 3
	for act, st := range map[string]command.State{
		"exited": {Status: command.Exited, ExitCode: &code, PID: os.Getpid(), Output: 109, Started: 1, Ended: 2},
		"killed": {Status: command.Killed, Signal: "SIGKILL", By: command.ByUser, Output: 109},
		"lost":   {Status: command.Lost, Reason: command.ReasonReboot, Output: 109},
	} {
		if err := r.Import("s", act, st, 100, strings.NewReader("last words")); err != nil {
			t.Fatal(err)
		}
		got, err := r.Settle(t.Context(), "s", act)
		if err != nil || got.Status != st.Status || got.Signal != st.Signal || got.Reason != st.Reason || got.PID != 0 || got.Output != 110 {
			t.Errorf("%s: %+v, %v", act, got, err)
		}
		b, next, gap, err := r.Read("s", act, 0, 0)
		if err != nil || string(b) != "last words" || gap != 100 || next != 110 {
			t.Errorf("%s: %q after %d, %d, %v", act, b, gap, next, err)
		}
		if rec, err := os.ReadFile(filepath.Join(r.Dir, "s", act, "exit.json")); err != nil || !strings.Contains(string(rec), `"output_bytes":110`) {
			t.Errorf("%s: recorded %s, %v", act, rec, err)
		}
		if err := r.Kill(t.Context(), "s", act, command.ByUser); err != nil {
			t.Errorf("%s: %v", act, err)
		}
	}
	if err := r.Import("s", "exited", command.State{}, 100, strings.NewReader("other words")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another one: %v", err)
	}
	for _, id := range []string{"../s", "", "a/b"} {
		if r.Import(id, "act", command.State{}, 0, strings.NewReader("")) == nil || r.Import("s", id, command.State{}, 0, strings.NewReader("")) == nil {
			t.Errorf("id %q is taken", id)
		}
	}
}
