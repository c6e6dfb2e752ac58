package homes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// shelf keeps the files of one flat directory in memory. It outlives homes.
type shelf struct {
	mu    sync.Mutex
	trees map[store.Digest]map[string]string
	fail  error // of the next restores, when they are to be finished
}

func (k *shelf) now(dir string) (store.Digest, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return store.Digest{}, err
	}
	files, all := map[string]string{}, ""
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(dir, n.Name()))
		if err != nil {
			return store.Digest{}, err
		}
		files[n.Name()] = string(b)
		all += n.Name() + "\x00" + string(b) + "\x00"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	d := store.Sum([]byte(all))
	k.trees[d] = files
	return d, nil
}

func (k *shelf) Capture(_ context.Context, r engine.CaptureRequest) (engine.Captured, error) {
	d, err := k.now(r.Dir)
	return engine.Captured{Body: &session.FilesCaptured{Tree: d}}, err
}

func (k *shelf) Prepare(_ context.Context, r engine.RestoreRequest) (engine.Prepared, error) {
	d, err := k.now(r.Dir)
	return engine.Prepared{Before: &session.FilesCaptured{Tree: d}}, err
}

func (k *shelf) Finish(_ context.Context, r engine.RestoreRequest) (engine.Restored, error) {
	if k.fail != nil {
		return engine.Restored{}, k.fail
	}
	for name, content := range k.trees[r.Target] {
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(content), 0o600); err != nil {
			return engine.Restored{}, err
		}
	}
	d, err := k.now(r.Dir)
	return engine.Restored{Tree: d, Counts: session.RestoreCounts{Modified: 1}}, err
}

func (k *shelf) Abandon(context.Context, engine.RestoreRequest) error { return nil }

// shelved is a home that keeps files, with a session in a directory of one file.
func shelved(t *testing.T, k *shelf) (h *homes.Home, id, dir string) {
	t.Helper()
	var cfg homes.Config
	if k != nil {
		k.trees = map[store.Digest]map[string]string{}
		cfg = homes.WithCaptures(cfg, k)
	}
	return oneFile(t, cfg)
}

// oneFile is a home of the puppet's, with a session in a directory of one file.
func oneFile(t *testing.T, cfg homes.Config) (h *homes.Home, id, dir string) {
	t.Helper()
	cfg.Provider = func(string) (modelapi.Provider, error) { return puppet{}, nil }
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	dir = t.TempDir()
	write(t, dir, "one")
	if id, err = h.Create(t.Context(), specIn(t, h, dir)); err != nil {
		t.Fatal(err)
	}
	return h, id, dir
}

func write(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A checkpoint is made and restored whether somebody holds the session or nobody does, and both say what came of it.
func TestFilesOfASession(t *testing.T) {
	for _, holds := range []bool{false, true} {
		h, id, dir := shelved(t, &shelf{})
		if holds {
			s, err := h.Hold(t.Context(), id, homes.HoldOptions{Still: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
		}
		c, err := h.Checkpoint(t.Context(), id, "good")
		if err != nil || c.Name != "good" || c.Tree.IsZero() || c.Dir != dir || c.Seq == 0 {
			t.Fatalf("holds %t: %+v, %v", holds, c, err)
		}
		if _, err := h.Checkpoint(t.Context(), id, "good"); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a name that is taken: %v", err)
		}
		write(t, dir, "two")
		r, err := h.RestoreFiles(t.Context(), id, session.RestoreRequested{Target: c.Tree, To: "checkpoint good"})
		if err != nil || r.Outcome != session.RestoreDone || r.Modified != 1 || content(t, dir) != "one" {
			t.Errorf("holds %t: %+v, %v, %q", holds, r, err, content(t, dir))
		}
		st, err := h.State(t.Context(), id)
		if err != nil || len(st.Workspace.Points) != 1 {
			t.Fatal(st.Workspace, err)
		}
		seq := st.Workspace.Points[0].Seq
		if _, err := h.RestoreFiles(t.Context(), id, session.RestoreRequested{Undo: &seq, To: "before that"}); err != nil || content(t, dir) != "two" {
			t.Errorf("undo: %v, %q", err, content(t, dir))
		}
		if _, err := h.RestoreFiles(t.Context(), id, session.RestoreRequested{Undo: &seq}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("undone twice: %v", err)
		}
	}
}

// What could not be done says so, by an error that a caller can tell from others.
func TestFilesThatFail(t *testing.T) {
	k := &shelf{fail: errors.New("the disk is full")}
	h, id, dir := shelved(t, k)
	c, err := h.Checkpoint(t.Context(), id, "good")
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.RestoreFiles(t.Context(), id, session.RestoreRequested{Target: c.Tree, To: "good"})
	if !errors.Is(err, homes.ErrNotRestored) || r.Outcome != session.RestoreUndone || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("restore: %+v, %v", r, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Checkpoint(t.Context(), id, "late"); !errors.Is(err, homes.ErrNotCaptured) {
		t.Errorf("checkpoint: %v", err)
	}
	h, id, _ = shelved(t, nil)
	if _, err := h.Checkpoint(t.Context(), id, "good"); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("where nothing is captured: %v", err)
	}
}

// What a turn changes is captured as it is changed, and the turn is undone.
func TestATurnIsUndone(t *testing.T) {
	h, id, dir := shelved(t, &shelf{})
	s, err := h.Hold(t.Context(), id, homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	prompt(t, s, "write "+filepath.Join(dir, "f"))
	if content(t, dir) != "x" {
		t.Fatalf("the turn wrote %q", content(t, dir))
	}
	st, err := s.State(t.Context())
	if err != nil || len(st.Workspace.Points) != 1 || st.Workspace.Points[0].Turn != 1 {
		t.Fatalf("workspace %+v, %v", st.Workspace, err)
	}
	seq := st.Workspace.Points[0].Seq
	if _, err := s.RestoreFiles(t.Context(), session.RestoreRequested{Undo: &seq, To: "before turn 1"}); err != nil {
		t.Fatal(err)
	}
	kinds := []store.Kind{}
	for ev, err := range h.Events(t.Context(), id, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(ev.Kind), "files.") {
			kinds = append(kinds, ev.Kind)
		}
	}
	want := []store.Kind{session.KindFilesCaptured, session.KindFilesCaptured, session.KindRestoreRequested, session.KindRestoreStarted, session.KindFilesRestored}
	if !slices.Equal(kinds, want) {
		t.Errorf("the log has %q", kinds)
	}
}

// A holder died while an act ran that may still be changing files: a checkpoint of that moment would be of no moment at
// all. The person is told, and the wish is kept for whoever goes on with the session.
func TestACheckpointInTheMiddleOfAnAct(t *testing.T) {
	h, id, _ := shelved(t, &shelf{})
	actor := store.Actor{Type: store.ActorImport}
	add := func(bodies ...session.Body) {
		t.Helper()
		if _, err := h.Append(t.Context(), id, homes.AppendOptions{}, actor, bodies...); err != nil {
			t.Fatal(err)
		}
	}
	add(&session.TurnStarted{N: 1, Met: true}, &session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Through: 2, Model: "mine/m1"},
		&session.ModelResponded{Act: "t1.s1.b0.a1", Model: "mine/m1", Provider: "mine", Stop: modelapi.StopToolUse, Blocks: []session.SealedBlock{
			{Type: model.BlockToolUse, ID: "u", Name: "Bash", Input: []byte(`{"command":"make"}`)},
		}})
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	c := st.Turn.Calls[0]
	add(&session.ToolDecided{Act: c.ID, Effect: session.EffectProcess, Decision: session.Decision{Allow: true, Bound: st.Binding(&c)}},
		&session.ToolStarted{Act: c.ID, Start: session.Start{Command: "make"}})
	if _, err := h.Checkpoint(t.Context(), id, "good"); !errors.Is(err, homes.ErrFilesWait) {
		t.Errorf("checkpoint: %v", err)
	}
	if st, err := h.State(t.Context(), id); err != nil || len(st.Workspace.Asked) != 1 || len(st.Workspace.Checkpoints) != 0 {
		t.Errorf("workspace %+v, %v", st.Workspace, err)
	}
	// A restore looks the act up, since nobody holds the session: its directory is gone, so that nobody can tell more.
	if _, err := h.RestoreFiles(t.Context(), id, session.RestoreRequested{Target: store.Sum(nil)}); err != nil {
		t.Errorf("restore: %v", err)
	}
	if st, err := h.State(t.Context(), id); err != nil || len(st.Workspace.Checkpoints) != 1 || st.Turn == nil || st.Turn.Calls[0].Outcome != session.OutcomeUnknown {
		t.Errorf("workspace %+v, turn %+v, %v", st.Workspace, st.Turn, err)
	}
}
