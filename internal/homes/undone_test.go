package homes_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Of what a session's files were before each undo the oldest comes first; a restore that is no undo and an undo that was
// taken back itself are none, and after as long as turns are kept there are none.
func TestMomentsBeforeUndosAreListed(t *testing.T) {
	clock, k := newMoved(), &shelf{trees: map[store.Digest]map[string]string{}}
	h, id, dir := oneFile(t, homes.WithCaptures(homes.Config{Now: clock.Now}, k))
	restore := func(r session.RestoreRequested) error {
		t.Helper()
		clock.pass(time.Hour)
		_, err := h.RestoreFiles(t.Context(), id, r)
		return err
	}
	newest := func() *int64 {
		t.Helper()
		st, err := h.State(t.Context(), id)
		if err != nil || len(st.Workspace.Points) == 0 {
			t.Fatal(st, err)
		}
		return &st.Workspace.Points[len(st.Workspace.Points)-1].Seq
	}
	one, err := h.Checkpoint(t.Context(), id, "one")
	if err != nil {
		t.Fatal(err)
	}
	var want []store.Digest
	for i := range 2 {
		write(t, dir, fmt.Sprint("before restore ", i))
		if err := restore(session.RestoreRequested{Target: one.Tree, To: "one"}); err != nil {
			t.Fatal(err)
		}
		write(t, dir, fmt.Sprint("before undo ", i))
		was, err := k.now(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := restore(session.RestoreRequested{Undo: newest(), To: "before that"}); err != nil {
			t.Fatal(err)
		}
		want = append(want, was)
	}
	write(t, dir, "before an undo that fails")
	if err := restore(session.RestoreRequested{Target: one.Tree, To: "one"}); err != nil {
		t.Fatal(err)
	}
	k.fail = errors.New("the disk is full")
	if err := restore(session.RestoreRequested{Undo: newest(), To: "before that"}); !errors.Is(err, homes.ErrNotRestored) {
		t.Fatal(err)
	}
	got, err := h.Undone(t.Context(), id)
	if err != nil || !slices.EqualFunc(got, want, func(p homes.FilePoint, d store.Digest) bool { return p.Tree == d && p.Dir == dir }) {
		t.Fatalf("%+v, %v; want %v", got, err, want)
	}
	for i, p := range got {
		at, err := h.FilesAt(t.Context(), id, fmt.Sprint(p.Seq))
		if err != nil || at.Tree != want[i] {
			t.Errorf("event %d: %+v, %v", p.Seq, at, err)
		}
		var asked int64
		if _, err := fmt.Sscanf(p.To, "before the undo of event %d", &asked); err != nil || kindAt(t, h, id, asked) != session.KindRestoreRequested {
			t.Errorf("%q: %v", p.To, err)
		}
	}
	if apart := time.Duration(got[1].Time-got[0].Time) * time.Millisecond; apart != 2*time.Hour {
		t.Errorf("they are %s apart", apart)
	}
	clock.pass(21 * time.Hour)
	if got, err := h.Undone(t.Context(), id); err != nil || len(got) != 1 || got[0].Tree != want[1] {
		t.Errorf("when the first is too old: %+v, %v", got, err)
	}
	clock.pass(2 * time.Hour)
	if got, err := h.Undone(t.Context(), id); err != nil || len(got) != 0 {
		t.Errorf("when all are too old: %+v, %v", got, err)
	}
}

func kindAt(t *testing.T, h *homes.Home, id string, seq int64) store.Kind {
	t.Helper()
	for ev, err := range h.Events(t.Context(), id, seq, seq) {
		if err != nil {
			t.Fatal(err)
		}
		return ev.Kind
	}
	return ""
}
