package session

import (
	"slices"

	"github.com/perdure/perdure/store"
)

// ForHandoff is the reason of a [Compaction] that leaves the conversation as it is: its summary is the words of a handoff.
const ForHandoff = "handoff"

// HandoffRequested asks the model for the words of a handoff: now, or before the next model call of the open turn.
type HandoffRequested struct {
	headOnly
	Why string `json:"why"` // see HandoffAsked and the others
}

// Why a handoff is written.
const (
	HandoffAsked    = "asked"     // somebody wants it
	HandoffEnd      = "end"       // nothing more is to be done in the session now
	HandoffCompact  = "compact"   // the conversation is about to be compacted
	HandoffRendered = "recovered" // the session ended without one: a later one wrote it from the log
)

func (b *HandoffRequested) summary() string { return b.Why }

func (b *HandoffRequested) apply(s *State, _ store.Event) {
	if s.Compaction == nil && s.Context.Replies > 0 {
		s.Compaction = &Compaction{N: s.Compactions + 1, Reason: ForHandoff, Focus: b.Why}
	}
}

// HandoffWritten is a handoff: what a session that knows nothing of this one needs to go on.
type HandoffWritten struct {
	N     int64  `json:"n,omitempty"` // of the [Compaction] whose summary are the words; 0: no model was asked
	Why   string `json:"why"`
	Words []byte `json:"-"` // the model's; empty: it gave none
	Text  []byte `json:"-"` // the document
}

func (b *HandoffWritten) summary() string {
	if len(b.Words) == 0 {
		return b.Why + ", by rule"
	}
	return b.Why + ", by model"
}

func (b *HandoffWritten) parts() []*[]byte { return []*[]byte{&b.Words, &b.Text} }

func (b *HandoffWritten) show(m map[string]any) {
	viewText(m, "words", b.Words)
	viewText(m, "text", b.Text)
}

// Handoff is what a state knows of the newest handoff.
type Handoff struct {
	Seq   int64  `json:"seq"` // of handoff.written
	Time  int64  `json:"time"`
	Why   string `json:"why"`
	Turns int    `json:"turns"`           // turns that had been started
	Step  int    `json:"step,omitempty"`  // newest step of the open one
	Words int64  `json:"words,omitempty"` // seq of the newest one with words of a model
	Said  int64  `json:"said,omitempty"`  // [State.Worked] at that one
	// Settled: its session was given back since. Until then whoever opens the session makes sure of what belongs to it
	// outside of the log.
	Settled bool `json:"settled,omitempty"`
}

// NewsSince reports whether a session has come further than a handoff of its knows.
func (s *State) NewsSince(h *Handoff) bool {
	if s.Turns > h.Turns || s.LastTurn != nil && s.LastTurn.Seq > h.Seq || s.Turn != nil && s.Turn.Step > h.Step {
		return true
	}
	if n := len(s.Facts); n > 0 && s.Facts[n-1].Seq > h.Seq {
		return true
	}
	return slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.EndSeq > h.Seq })
}

// WorkedBy is how long the session's turns took, the open one up to a time (ms UTC), in milliseconds. Between turns a
// session does not work, however old it gets.
func (s *State) WorkedBy(now int64) int64 {
	if s.Turn == nil {
		return s.Worked
	}
	return s.Worked + max(0, now-s.Turn.Started)
}

// settleHandoff notes that a session was given back.
func (s *State) settleHandoff() {
	if s.Handoff != nil && !s.Handoff.Settled {
		h := *s.Handoff // shared with copies
		h.Settled = true
		s.Handoff = &h
	}
}

func (b *HandoffWritten) apply(s *State, e store.Event) {
	if c := s.Compaction; c != nil && c.Reason == ForHandoff && c.N == b.N {
		s.Compaction = nil
	}
	s.Compactions = max(s.Compactions, b.N)
	h := Handoff{Seq: e.Seq, Time: e.Time, Why: b.Why, Turns: s.Turns}
	if old := s.Handoff; old != nil {
		h.Words, h.Said = old.Words, old.Said
	}
	if s.Turn != nil {
		h.Step = s.Turn.Step
	}
	if len(b.Words) > 0 {
		h.Words, h.Said = e.Seq, s.WorkedBy(e.Time)
	}
	s.Handoff = &h
}

// WriteHandoff asks for handoff.written.
type WriteHandoff struct {
	N     int64
	Reply int64 // seq of the sealed words; 0: there are none
	Why   string
}

func (WriteHandoff) do() {}
