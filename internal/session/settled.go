package session

import (
	"fmt"

	"github.com/perdure/perdure/store"
)

// SettledNow reports whether no act is open: no model call is outstanding, no tool call executes and no files are being
// restored. Only such a position can be forked from exactly.
func (s *State) SettledNow() bool {
	if s.Workspace.Restoring() {
		return false
	}
	if c := s.Compaction; c != nil && c.Model != nil && c.Model.Status == CallRequested {
		return false
	}
	t := s.Turn
	if t == nil {
		return s.Head.Seq > 0
	}
	if t.Model != nil && t.Model.Status == CallRequested {
		return false
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.State == ActExecuting && !c.Left {
			return false
		}
	}
	return true
}

// SettledSeq folds events onto s up to at, and returns the newest settled seq on the way, at included. It is where a
// fork at that seq begins. Afterwards s stands at at, or at the last event. An error tells that there is none, or
// that an event could not be folded.
func SettledSeq(s *State, events []store.Event, at int64) (int64, error) {
	best := int64(0)
	if s.Head.Seq <= at && s.SettledNow() {
		best = s.Head.Seq
	}
	for _, e := range events {
		if e.Seq > at {
			break
		}
		if err := s.Apply(e); err != nil {
			return 0, err
		}
		if s.SettledNow() {
			best = s.Head.Seq
		}
	}
	if best == 0 {
		return 0, fmt.Errorf("session %s: no settled position at or before %d", s.ID, at)
	}
	return best, nil
}
