package homes_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// Goal: whoever gives no rules goes by those that the session has, whatever is asked of its tasks. A restart that they
// refuse ends nothing, and restoring tasks changes no rule.
func TestTasksGoByTheSessionsRulesIfNoneAreGiven(t *testing.T) {
	dir := t.TempDir()
	h := taskHome(t, dir)
	if _, err := h.Create(t.Context(), engine.Spec{ID: "s", Cwd: dir, Agent: session.Agent{Name: "none", Provider: "none", Model: "none"}}); err != nil {
		t.Fatal(err)
	}
	ts := h.Tasks()
	const serve = "read line"
	spec := homes.TaskSpec{Argv: []string{"sh", "-c", serve}, Command: serve, Cwd: dir, TaskSettings: session.TaskSettings{Stdin: true}}
	task, err := ts.Start(t.Context(), "s", spec, nil)
	if err != nil || !task.Live() {
		t.Fatalf("%+v, %v", task, err)
	}
	t.Cleanup(func() { _, _ = ts.KillAll(context.Background(), "s", command.ByUser) })
	deny := []session.Rule{{Effect: "deny", Text: "Bash(" + serve + ")", Source: "user"}}
	other := homes.TaskSpec{Argv: []string{"true"}, Command: "true", Cwd: dir}
	if _, err := ts.Start(t.Context(), "s", other, deny); err != nil { // which the session has from now on
		t.Fatal(err)
	}

	if again, err := ts.Restart(t.Context(), task, nil); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("restarted as %+v, %v", again, err)
	}
	st, err := h.State(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if now, ok := ts.One(st, task.ID); !ok || !now.Live() || now.PID != task.PID {
		t.Errorf("what was not to be restarted was ended: %+v", now)
	}
	if _, err := ts.Restore(t.Context(), "s", nil); err != nil {
		t.Error(err)
	}
	if st, err = h.State(t.Context(), "s"); err != nil || !slices.Equal(st.Permissions.Rules, deny) {
		t.Errorf("the session has the rules %+v, %v", st.Permissions.Rules, err)
	}
	// None at all is something else than none given.
	if again, err := ts.Restart(t.Context(), task, []session.Rule{}); err != nil || again.Attempt != 2 {
		t.Errorf("restarted as %+v, %v", again, err)
	}
}
