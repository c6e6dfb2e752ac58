package engine

import (
	"slices"

	"github.com/perdure/perdure/internal/session"
)

// noteBefore records what the fold shows before session.resumed changes it, to the mode that this holder brings; empty:
// none.
func (s *Session) noteBefore(mode session.Mode) {
	s.noteReboot()
	if s.state.Config.Mode == "bypassPermissions" && s.state.Epoch > 0 && mode != "bypassPermissions" {
		s.recovered = append(s.recovered, Recovery{Kind: "mode", ID: "bypassPermissions", Text: "not restored: the mode is default again"})
	}
	if t := s.state.Turn; t != nil && interrupted(s.state) {
		s.recovered = append(s.recovered, Recovery{Kind: "turn", ID: session.ActBase(t.N, t.Step, 0), Text: "was left open"})
	}
}

// interrupted reports whether the open turn has something to do that its last holder did not get round to. One that
// waits for a human, has just got the human's answer, or was halted by a limit was left open for that.
func interrupted(st *session.State) bool {
	stop, _ := st.Halt()
	answered := slices.ContainsFunc(st.Turn.Calls, func(c session.Call) bool {
		return !c.Settled() && c.Start == nil && (c.Answer != nil || c.Approval != nil && c.Approval.Answered && !c.Approval.Spent)
	})
	return stop == "" && !answered && len(session.Waits(st)) == 0
}
