package homes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

// Where the capture after an act failed, what the act changed is in no tree. To go back from there is never "all is as it
// was": what differs is named, stays, and comes back by force. Peers reported a restore as done that had restored nothing.
func TestWhatChangedWithoutACaptureIsNamedByARestore(t *testing.T) {
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{
		Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil }, Files: &homes.Files{MaxFiles: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	a, err := h.Agent(t.Context(), "mine/m1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "one")
	if err := os.WriteFile(filepath.Join(dir, "lost"), []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(t.Context(), engine.Spec{Agent: a, Cwd: dir, Mode: permission.ModeAcceptEdits})
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Hold(t.Context(), id, homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	prompt(t, s, "write "+filepath.Join(dir, "third"))
	if st, err := s.State(t.Context()); err != nil || st.Workspace.Refused == "" || len(st.Workspace.Points) != 1 {
		t.Fatalf("three files were captured though two are the most: %+v, %v", st.Workspace, err)
	}
	for _, name := range []string{"third", "lost"} { // as a command of the turn might have done
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	point, err := h.UndoPoint(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := h.PlanRestore(t.Context(), id, point, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	plan.Release()
	if len(plan.Kept) != 1 || plan.Kept[0].Path != "lost" || len(plan.Changes) != 0 {
		t.Errorf("the plan is %s: kept %+v, changes %+v", plan, plan.Kept, plan.Changes)
	}
	r, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Target: point.Tree, To: point.To, Force: true})
	if err != nil || r.Added != 1 || !there(dir, "lost") {
		t.Errorf("by force: %+v, %v", r, err)
	}
}
