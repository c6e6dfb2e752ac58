package session

import "github.com/perdure/perdure/store"

// ToolDetached sends a running foreground command to the background: its timeout no longer holds, and it becomes a task
// of that name, unless it has ended before that could be done. It is durable before the command's shim is told.
type ToolDetached struct {
	headOnly
	Act  string `json:"act"`  // in an inbox item empty for the only command that runs
	Task string `json:"task"` // its name then; set by the holder
}

func (b *ToolDetached) summary() string { return b.Act + "  " + b.Task }

func (b *ToolDetached) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	switch {
	case c == nil:
		return
	case !c.Detachable():
		s.fault(e, "act %s is no command that runs in the foreground", b.Act)
		return
	}
	start := *c.Start // what was handed out before must not change
	start.Background, start.Moved, start.Task = true, true, b.Task
	c.Start = &start
	s.NextTask++
}

// Detachable reports whether the call is a command that runs in the foreground.
func (c *Call) Detachable() bool {
	return c.State == ActExecuting && c.Effect == EffectProcess && !c.Left && c.Start != nil && !c.Start.Background
}
