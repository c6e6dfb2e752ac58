package engine_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// Whoever takes back the files of a turn that nobody runs need not have it go on: what was open is settled and
// captured, the files are restored, no model is called, and the turn is open still. When it goes on the model is told
// first.
func TestATurnThatNobodyRunsIsTakenBack(t *testing.T) {
	s, k := interrupted(t, "")
	p := s.process()
	se := p.open(bypass)
	must(t, se.SettleLeft(t.Context()))
	if got := se.State().Call(lostAct); got.Outcome != session.OutcomeUnknown || se.State().Workspace.Tree != k.now() {
		t.Errorf("settled: %+v, captured %t", got, se.State().Workspace.Tree == k.now())
	}
	must(t, se.Close(t.Context(), ""))

	p = s.process()
	se = p.open(bypass)
	p.undo("u", se.State())
	must(t, se.Drain(t.Context()))
	must(t, se.TendTasks(t.Context()))
	if got := s.files.m; string(got["/w/a"]) != "old" || got["/w/half"] != nil || got["/w/kept"] != nil || len(s.requests) != 2 {
		t.Errorf("files %q, %d requests", got, len(s.requests))
	}
	if st := se.State(); st.Turn == nil || len(p.log(session.KindInboxRefused)) != 0 || len(st.Faults) > 0 {
		t.Errorf("turn %+v, refused %v, faults %q", st.Turn, p.log(session.KindInboxRefused), st.Faults)
	}
	must(t, se.Close(t.Context(), ""))

	run(t, s.process().open(bypass))
	if told := render(s.last().Messages); strings.Count(told, "restored by the user to before turn 1") != 1 {
		t.Errorf("the model was told\n%s", told)
	}
}
