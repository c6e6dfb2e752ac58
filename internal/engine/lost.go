package engine

import (
	"github.com/perdure/perdure/internal/session"
)

// takeBack is the wish to have the files as they were before an act of which nobody can tell what it did, if the session
// is set to that; nil: there is none. It goes into the log together with the act's outcome, so that it is asked for once.
func (s *held) takeBack(bodies []session.Body) *session.RestoreRequested {
	if s.eng.cfg.Captures == nil || s.state.Config.OnLost != session.OnLostRollback {
		return nil
	}
	for _, b := range bodies {
		unknown, ok := b.(*session.ToolUnknown)
		if !ok {
			continue
		}
		if c := s.state.Call(unknown.Act); c != nil && s.canTakeBack(c) {
			return &session.RestoreRequested{Target: s.state.Workspace.Tree, To: "before " + c.ID + " (" + c.Tool + "), which was interrupted"}
		}
	}
	return nil
}

// canTakeBack reports whether the newest tree is of just before an act that was begun. A change of one file is none: it
// was made whole or not at all, so that what else is there is somebody else's.
func (s *held) canTakeBack(c *session.Call) bool {
	w, t := &s.state.Workspace, s.state.Turn
	began := c.Start != nil && !c.Left && (c.Effect == session.EffectProcess || c.Effect == session.EffectExternal)
	known := !w.Tree.IsZero() && w.Refused == "" && w.Dir == s.filesDir() && w.Restore == nil
	return began && known && t != nil && t.Cancel == nil && w.Time <= c.Start.Time
}
