package session

import (
	"fmt"

	"github.com/perdure/perdure/model"
)

type (
	// Summarize asks for a call for the summary of the compaction: model.requested with its purpose, then the call, then
	// model.responded or model.failed. Where there is nothing to summarize, it asks for what Compact asks for.
	Summarize struct {
		N       int64
		Attempt int
		Rung    int
		Reason  string
		Focus   string
	}
	// Compact asks for context.compacted, at that level or a higher one.
	Compact struct {
		N      int64
		Level  int
		Reply  int64 // seq of the sealed summary; 0: it is made by rule, or the one before stays
		Reason string
		Focus  string
	}
)

func (Summarize) do() {}
func (Compact) do()   {}

// How full the window may be before a conversation is compacted, in thousandths, and the bounds of what can be set.
const (
	CompactAtDefault = 800
	CompactAtLeast   = 50
	CompactAtMost    = 950
)

// Mark is how many tokens the next request may have before the conversation is compacted; 0: the window's size is not
// known.
func (s *State) Mark() int64 {
	at := s.Config.CompactAt
	if at == 0 {
		at = CompactAtDefault
	}
	return s.Agent.Window * int64(at) / 1000
}

// pressure says why the conversation must be compacted before the next new request, and at which level; "" if it need
// not be, or cannot.
func (s *State) pressure() (reason string, level int) {
	if c := s.Compaction; c != nil && (c.Reason == CompactAsked || c.Reason == ForHandoff) && s.Context.Replies > 0 {
		return c.Reason, LevelWhole
	}
	return s.crowding()
}

// crowding is the pressure of the window's size alone.
func (s *State) crowding() (reason string, level int) {
	reason = s.crowded()
	o := s.Overlay
	switch {
	case reason == "" || s.Config.NoCompact || s.Context.Replies == 0:
		return "", 0
	case o == nil || o.Measured > 0 && (o.Measured < s.Mark() || s.Mark() == 0):
		return reason, LevelWhole
	case reason == CompactThreshold && o.Measured == 0 && s.fits():
		return "", 0 // nothing was measured since the last one: the estimate may be wrong
	case o.Level < LevelHighest:
		return reason, o.Level + 1
	}
	return "", 0
}

// crowded says in what way the next request is too large, if it is.
func (s *State) crowded() string {
	if s.overflowed() && (s.Overlay == nil || s.Overlay.Seq <= s.Turn.Model.Through) {
		return CompactOverflow
	}
	if mark := s.Mark(); mark > 0 && s.Estimate() >= mark {
		return CompactThreshold
	}
	return ""
}

// overflowed reports whether the API refused the open turn's newest request as too long.
func (s *State) overflowed() bool {
	return s.Turn != nil && s.Turn.Model.rests() && s.Turn.Model.Class == "context"
}

// relieved reports whether a request that was too long can be made anew: there is less in it now, or will be.
func (s *State) relieved() bool {
	if !s.overflowed() || s.Config.NoCompact {
		return false
	}
	reason, _ := s.pressure()
	if reason == ForHandoff { // it makes no room
		reason, _ = s.crowding()
	}
	return reason != "" || s.Overlay != nil && s.Overlay.Seq > s.Turn.Model.Through
}

// fits reports whether the next request leaves room for a reply.
func (s *State) fits() bool {
	return s.Agent.Window == 0 || s.Estimate()+replyRoom <= s.Agent.Window
}

// makeRoom gives the actions that come before the next new request of a turn (0: there is none); ok tells that there
// is something to do, or to wait for.
func (s *State) makeRoom(turn int) (as []Action, ok bool) {
	c := s.Compaction
	if c != nil && c.Model != nil {
		return s.summarizing(turn, c)
	}
	reason, level := s.pressure()
	if reason == "" {
		return nil, false
	}
	n, focus := s.Compactions+1, ""
	if c != nil {
		n, focus = c.N, c.Focus
	}
	id := CompactBase(n)
	if level > LevelWhole {
		return []Action{{ID: id, Turn: turn, Do: Compact{N: n, Level: level, Reason: reason}}}, true
	}
	rung := RungWhole
	if reason == CompactOverflow || !s.fits() {
		rung = RungText
	}
	return []Action{{ID: AttemptID(id, 1), Turn: turn, Do: Summarize{N: n, Attempt: 1, Rung: rung, Reason: reason, Focus: focus}}}, true
}

// summarizing gives what a compaction whose summary was asked for needs next.
func (s *State) summarizing(turn int, c *Compaction) ([]Action, bool) {
	m := c.Model
	one := func(id string, do Do) ([]Action, bool) { return []Action{{ID: id, Turn: turn, Do: do}}, true }
	switch {
	case m.Status == CallRequested && (m.Epoch < s.Epoch || c.Cancelled):
		return one(m.ID, Settle{Cancel: c.Cancelled})
	case m.Status == CallRequested:
		return one(m.ID, Summarize{N: c.N, Attempt: m.Attempt, Rung: c.Rung, Reason: c.Reason, Focus: c.Focus})
	case c.Reason == ForHandoff: // a call that failed is not made again: the handoff is written without words
		return one(CompactBase(c.N), WriteHandoff{N: c.N, Reply: c.Reply, Why: c.Focus})
	case s.Lifecycle != LifecycleOpen, m.rests():
		return nil, true
	case m.Status == CallFailed && s.Updated < m.RetryAt:
		return one(WakeID(m.ID), Wake{At: m.RetryAt})
	case m.Status == CallResponded, c.Rung >= RungRule:
		return one(CompactBase(c.N), Compact{N: c.N, Reply: c.Reply, Reason: c.Reason, Focus: c.Focus})
	}
	next := Summarize{N: c.N, Attempt: m.Attempt + 1, Rung: c.Rung, Reason: c.Reason, Focus: c.Focus}
	return one(AttemptID(CompactBase(c.N), m.Attempt+1), next)
}

// CompactionOff is in the words of a halt that a compaction would end.
const CompactionOff = "compaction is off"

// full says in numbers why the next request cannot be made; "" if it can.
func (s *State) full() string {
	if reason, _ := s.pressure(); reason != "" {
		return ""
	}
	o, mark, est := s.Overlay, s.Mark(), s.Estimate()
	switch {
	case s.Config.NoCompact && !s.fits():
		return fmt.Sprintf("the next request, about %d tokens, does not fit the model's context window of %d tokens, and "+CompactionOff,
			est, s.Agent.Window)
	case !s.fits():
		return fmt.Sprintf("the next request, about %d tokens, does not fit the model's context window of %d tokens, and nothing more can be left out",
			est, s.Agent.Window)
	case o != nil && mark > 0 && est >= mark && o.Measured >= mark && o.Level == LevelHighest && !s.Config.NoCompact:
		return fmt.Sprintf("compacting does not help: the request after compaction %d had %d tokens, and %d is where one is due (window %d)",
			o.N, o.Measured, mark, s.Agent.Window)
	}
	return ""
}

// measure takes over what the API counted for the first ordinary request after a compaction.
func (s *State) measure(m *ModelCall, u model.Usage) {
	if s.Overlay == nil || s.Overlay.Measured > 0 {
		return
	}
	o := *s.Overlay // shared with copies
	if o.Measured = u.Input + u.CacheRead + u.CacheWrite; o.Measured == 0 {
		o.Measured = m.Estimate
	}
	s.Overlay = &o
}
