package homes_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// keeping is a held session whose files are captured, in a directory of its own.
func keeping(t *testing.T) (h *homes.Home, s *homes.Session, dir string) {
	t.Helper()
	return keepingWith(t, homes.Config{Files: &homes.Files{}})
}

func keepingWith(t *testing.T, cfg homes.Config) (h *homes.Home, s *homes.Session, dir string) {
	t.Helper()
	h, id, dir := oneFile(t, cfg)
	s, err := h.Hold(t.Context(), id, homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return h, s, dir
}

// undoNewest undoes the newest point.
func undoNewest(t *testing.T, s *homes.Session) session.FilesRestored {
	t.Helper()
	st, err := s.State(t.Context())
	if err != nil || len(st.Workspace.Points) == 0 {
		t.Fatalf("workspace %+v, %v", st.Workspace, err)
	}
	seq := st.Workspace.Points[len(st.Workspace.Points)-1].Seq
	r, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Undo: &seq, To: "before"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// What an undo took away is the session's own doing: going to the checkpoint from before it brings it back, and what a
// person wrote meanwhile stays.
func TestACheckpointBringsBackWhatAnUndoTook(t *testing.T) {
	_, s, dir := keeping(t)
	prompt(t, s, "write "+filepath.Join(dir, "a"))
	c, err := s.Checkpoint(t.Context(), "with-a")
	if err != nil {
		t.Fatal(err)
	}
	if r := undoNewest(t, s); r.Deleted != 1 || there(dir, "a") {
		t.Fatalf("undo: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	prompt(t, s, "write "+filepath.Join(dir, "c"))
	r, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Target: c.Tree, To: "checkpoint with-a"})
	if err != nil || !there(dir, "a") || there(dir, "c") || !there(dir, "mine") || there(dir, "a.perdure-conflict") {
		names, _ := os.ReadDir(dir)
		t.Errorf("restored %+v, %v: %v", r, err, names)
	}
}

// specIn is of a session that works in a directory.
func specIn(t *testing.T, h *homes.Home, dir string) engine.Spec {
	t.Helper()
	a, err := h.Agent(t.Context(), "mine/m1")
	if err != nil {
		t.Fatal(err)
	}
	return engine.Spec{Agent: a, Cwd: dir, Mode: permission.ModeAcceptEdits}
}
