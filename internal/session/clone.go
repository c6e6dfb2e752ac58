package session

import (
	"maps"
	"slices"
)

// Copy returns a copy for readers in other goroutines: what they may look at no longer changes under them.
func (s *State) Copy() *State {
	c := *s
	return c.own()
}

// View is Copy without the open turn.
func (s *State) View() *State {
	v := *s
	v.Turn = nil
	return v.own()
}

// own makes everything that Apply changes in place the state's own, and returns it. What Apply only replaces, or
// appends to, is shared.
func (s *State) own() *State {
	s.Labels, s.Scratch, s.Timers = maps.Clone(s.Labels), maps.Clone(s.Scratch), maps.Clone(s.Timers)
	s.Files, s.fileOrder, s.Told = maps.Clone(s.Files), nil, maps.Clone(s.Told)
	s.Tasks, s.Queue, s.Usage = slices.Clone(s.Tasks), slices.Clone(s.Queue), slices.Clone(s.Usage)
	s.Awaits = slices.Clone(s.Awaits)
	s.Facts, s.Directories, s.Faults = slices.Clip(s.Facts), slices.Clip(s.Directories), slices.Clip(s.Faults)
	s.Settled, s.Permissions.Decisions = slices.Clip(s.Settled), slices.Clip(s.Permissions.Decisions)
	s.Permissions.Grants = slices.Clone(s.Permissions.Grants)
	s.Context.Ranges = slices.Clone(s.Context.Ranges)
	if s.Turn != nil {
		s.Turn = s.Turn.clone()
	}
	s.Compaction = s.Compaction.clone()
	return s
}

func (c *Compaction) clone() *Compaction {
	if c == nil {
		return nil
	}
	own := *c
	if c.Model != nil {
		m := *c.Model
		own.Model = &m
	}
	return &own
}

func (t *Turn) clone() *Turn {
	c := *t
	if t.Model != nil {
		m := *t.Model
		c.Model = &m
	}
	c.Calls = slices.Clone(t.Calls)
	for i := range c.Calls {
		if a := c.Calls[i].Approval; a != nil {
			own := *a
			c.Calls[i].Approval = &own
		}
	}
	return &c
}
