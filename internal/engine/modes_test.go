package engine

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Who may ask for what: a row for each action, a column for each kind of run.
func TestEachRunPerformsWhatItIsFor(t *testing.T) {
	moved := &session.Call{Start: &session.Start{Moved: true}}
	summary := session.New("s")
	summary.Compaction = &session.Compaction{Model: &session.ModelCall{}}
	for _, row := range []struct {
		st                                 *session.State
		do                                 session.Do
		run, still, tend, restore, compact bool
	}{
		{nil, session.StartTurn{}, true, false, false, false, false},
		{nil, session.EndTurn{}, true, false, false, false, false},
		{nil, session.CallModel{}, true, false, false, false, false},
		{nil, session.Decide{}, true, false, false, false, false},
		{nil, session.Execute{}, true, false, false, false, false},
		{nil, session.Conclude{}, true, false, false, false, false},
		{nil, session.Wake{}, true, false, false, false, false},
		{nil, session.Settle{}, true, true, false, false, false},
		{nil, session.Settle{Call: &session.Call{}}, true, true, false, false, false},
		{nil, session.Settle{Call: moved}, true, true, true, true, false},
		{summary, session.Settle{}, true, true, false, false, true},
		{summary, session.Settle{Call: moved}, true, true, true, true, false},
		{nil, session.StartTask{}, true, true, true, true, false},
		{nil, session.KillTask{}, true, true, true, true, false},
		{nil, session.WriteTask{}, true, true, true, true, false},
		{nil, session.MeetAwait{}, true, true, true, true, false},
		{nil, session.DropAwait{}, true, true, true, true, false},
		{nil, session.RestartTask{}, true, false, false, true, false},
		{nil, session.CaptureFiles{}, true, true, true, false, false},
		{nil, session.RestoreFiles{}, true, true, true, false, false},
		{nil, session.FinishRestore{}, true, true, true, false, false},
		{nil, session.Summarize{}, true, false, false, false, true},
		{nil, session.Compact{}, true, false, false, false, true},
		{nil, session.WriteHandoff{}, true, false, false, false, true},
		{nil, foreignDo{}, true, false, false, false, false},
	} {
		if row.st == nil {
			row.st = session.New("s")
		}
		s := newSession(nil, store.Lease{}, row.st)
		got := func(takes subject, still bool) bool {
			s.still, s.awaiting.serves = still, still
			return s.performs(mode{takes: takes}, row.do)
		}
		if got(forRun, false) != row.run || got(forRun, true) != row.still || got(forTending, false) != row.tend ||
			got(forRestore, false) != row.restore || got(forCompact, false) != row.compact {
			t.Errorf("%T %+v: run %t, still %t, tend %t, restore %t, compact %t", row.do, row.do,
				got(forRun, false), got(forRun, true), got(forTending, false), got(forRestore, false), got(forCompact, false))
		}
	}
}
