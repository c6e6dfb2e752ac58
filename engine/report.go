package engine

import "github.com/perdure/perdure/session"

// noteBefore records what the fold shows before session.resumed changes it.
func (s *Session) noteBefore() {
	s.noteReboot()
	if s.state.Config.Mode == "bypassPermissions" && s.state.Epoch > 0 {
		s.recovered = append(s.recovered, Recovery{Kind: "mode", ID: "bypassPermissions", Text: "not restored: the mode is default again"})
	}
	if t := s.state.Turn; t != nil {
		s.recovered = append(s.recovered, Recovery{Kind: "turn", ID: session.ActBase(t.N, t.Step, 0), Text: "was left open"})
	}
}
