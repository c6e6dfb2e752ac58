package session

// SettledNow tells whether no act is open: no model call is outstanding and no tool call executes. Only such a
// position can be forked from exactly.
func (s *State) SettledNow() bool {
	t := s.Turn
	if t == nil {
		return s.Head.Seq > 0
	}
	if t.Model != nil && t.Model.Status == CallRequested {
		return false
	}
	for i := range t.Calls {
		if t.Calls[i].State == ActExecuting {
			return false
		}
	}
	return true
}
