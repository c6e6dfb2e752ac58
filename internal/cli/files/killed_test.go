package files_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// An undo whose process was killed is finished by the next one, which says so and goes back no further: the person asked
// for it again, not for one more. With --dry-run nothing is finished.
func TestAnUndoThatWasKilledIsFinishedByTheNext(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 > f", "second": "echo 2 > f"}))
	p.run(m, "first")
	after := p.files()
	p.run(m, "second")
	last := p.files()

	h := p.Open("")
	st, err := h.State(t.Context(), "s")
	if err != nil || len(st.Workspace.Points) != 2 {
		t.Fatalf("%+v, %v", st.Workspace, err)
	}
	p.Close(h)
	seq := st.Workspace.Points[1].Seq
	p.Append("s", store.Actor{Type: store.ActorUser}, &session.RestoreRequested{Undo: &seq, Target: st.Workspace.Points[1].Tree, To: "before turn 2"})
	p.OK("undo", "s", "--dry-run")
	p.same("a look finishes nothing", last)
	if out := p.OK("undo", "s", "--yes"); !strings.Contains(out, "restored: 0 added, 1 modified") {
		t.Errorf("it says %q", out)
	}
	p.same("the killed undo is finished, and no more is undone", after)
}

// A restore that waits for somebody to finish it is finished before another one is planned: no plan is made of files that
// are half of one moment and half of another.
func TestARestoreThatWasKilledIsFinishedBeforeTheNext(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	start := p.files()
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 > f", "second": "echo 2 > f"}))
	p.run(m, "first")
	p.run(m, "second")
	h := p.Open("")
	st, err := h.State(t.Context(), "s")
	if err != nil || len(st.Workspace.Points) != 2 {
		t.Fatalf("%+v, %v", st.Workspace, err)
	}
	p.Close(h)
	killed := &session.RestoreRequested{Target: st.Workspace.Points[1].Tree, To: "turn 2"}
	p.Append("s", store.Actor{Type: store.ActorUser}, killed)
	p.OK("restore", "s", "turn 1", "--files", "--yes")
	p.same("the wanted moment", start)
	p.Append("s", store.Actor{Type: store.ActorUser}, killed)
	p.OK("undo", "s", "--yes")
	p.same("the restore that was killed is finished, and undone", start)
}
