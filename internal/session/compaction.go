package session

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Compaction is making room in the model's window while it is asked for or under way. The log keeps every event; what
// changes is what the next request holds, and only when [Compacted] is in the log. With the reason [ForHandoff] nothing
// changes: the summary is the words of a handoff.
type Compaction struct {
	N      int64  `json:"n"`
	Reason string `json:"reason"` // see CompactAsked and the others
	Focus  string `json:"focus,omitempty"`
	// Rung is how the summary is asked for: see RungWhole and the others.
	Rung      int        `json:"rung"`
	Cancelled bool       `json:"cancelled,omitempty"`
	Model     *ModelCall `json:"model,omitempty"` // the call for the summary
	Reply     int64      `json:"reply,omitempty"` // seq of its sealed reply
}

// Why a conversation is compacted.
const (
	CompactAsked     = "asked"     // somebody wants it
	CompactThreshold = "threshold" // the next request would be near the window's size
	CompactOverflow  = "overflow"  // the API refused a request as too long
)

// The rungs of asking for a summary, tried in this order.
const (
	RungWhole = iota // the conversation as it was sent, with a request for a summary after it
	RungText         // as much of it as fits, as text
	RungRule         // no model is asked: the summary is made by rule
)

// The levels of what a compaction keeps. A level that does not bring the next measured request below the mark is
// followed by the next one.
const (
	LevelWhole   = iota // the newest whole steps as they are
	LevelCut            // the same, with long tool results cut
	LevelLeast          // the newest step, with tool results cut short
	LevelHighest = LevelLeast
)

// Overlay is the newest compaction that holds: what requests hold in the place of the events before Tail.
type Overlay struct {
	N        int64  `json:"n"`
	Seq      int64  `json:"seq"`
	Level    int    `json:"level"`
	By       string `json:"by"`
	Before   int64  `json:"tokens_before"`
	After    int64  `json:"tokens_after"`       // estimated
	Measured int64  `json:"measured,omitempty"` // tokens of the first ordinary request since, as the API counted them; 0: none yet
}

// CompactRequested asks for a compaction: before the next model call, or now, if no turn is open.
type CompactRequested struct {
	headOnly
	Focus string `json:"focus,omitempty"` // what the summary should dwell on
}

func (b *CompactRequested) summary() string { return b.Focus }

func (b *CompactRequested) apply(s *State, _ store.Event) {
	if s.Compaction == nil {
		s.Compaction = &Compaction{N: s.Compactions + 1}
	}
	if s.Compaction.Model == nil {
		s.Compaction.Reason, s.Compaction.Focus = CompactAsked, b.Focus
	}
}

// ContextPart is one named piece of what stands in the place of the compacted conversation, as it is sent.
type ContextPart struct {
	Name  string `json:"name"`
	Path  string `json:"path,omitempty"`  // of the file that a given text was read from
	Given bool   `json:"given,omitempty"` // it is a given text: the newest of its name and path holds
	Seq   int64  `json:"seq,omitempty"`   // of a message, or a given text, that is kept word for word
	Text  []byte `json:"-"`
}

// Compacted puts an overlay over the conversation: from now on requests hold Parts, then the events of Tail, then what
// follows. It holds only if the overlay is still Over; else it changes nothing.
type Compacted struct {
	N            int64         `json:"n"`
	Over         int64         `json:"over"` // N of the overlay that this one replaces; 0: none
	By           string        `json:"by"`   // model or rule
	Reason       string        `json:"reason"`
	Focus        string        `json:"focus,omitempty"`
	Level        int           `json:"level"`
	In           string        `json:"in,omitempty"`          // the ancestor in whose log Through is; empty: this session's
	Through      int64         `json:"through_seq"`           // the newest event that requests hold no more
	Sent         int64         `json:"sent_seq"`              // the newest event that the request before the cut held
	Tail         []Range       `json:"tail"`                  // the events that they still hold, in the order of reading
	Replies      int           `json:"replies"`               // in Tail
	CutResults   int64         `json:"cut_results,omitempty"` // tool results in Tail are cut to so many bytes; 0: they are whole
	Size         int64         `json:"size"`                  // bytes of Parts and Tail
	TokensBefore int64         `json:"tokens_before"`
	TokensAfter  int64         `json:"tokens_after"` // estimated
	Parts        []ContextPart `json:"parts"`
}

func (b *Compacted) summary() string {
	return fmt.Sprintf("%d: %d tokens → about %d, by %s", b.N, b.TokensBefore, b.TokensAfter, b.By)
}

func (b *Compacted) show(m map[string]any) {
	parts := make([]any, len(b.Parts))
	for i, p := range b.Parts {
		parts[i] = map[string]any{"name": p.Name, "seq": p.Seq, "text": string(p.Text)}
	}
	m["parts"] = parts
}

func (b *Compacted) parts() []*[]byte {
	out := make([]*[]byte, len(b.Parts))
	for i := range b.Parts {
		out[i] = &b.Parts[i].Text
	}
	return out
}

func (b *Compacted) apply(s *State, e store.Event) {
	s.Compaction = nil
	s.Compactions = max(s.Compactions, b.N)
	if b.Over != s.overlaid() {
		return // another one was first
	}
	s.Overlay = &Overlay{N: b.N, Seq: e.Seq, Level: b.Level, By: b.By, Before: b.TokensBefore, After: b.TokensAfter}
	s.Base = nil
	s.Context.Ranges = append([]Range{{Session: s.ID, From: e.Seq, To: e.Seq}}, b.Tail...)
	s.Context.Tokens, s.Context.Fresh, s.Context.Replies = 0, b.Size, b.Replies
}

// overlaid is the number of the overlay that holds, 0 without one.
func (s *State) overlaid() int64 {
	if s.Overlay == nil {
		return 0
	}
	return s.Overlay.N
}

// compactPrefix begins the act ids of calls for summaries.
const compactPrefix = "c"

// CompactBase names the call for the summary of the n-th compaction, without its attempt.
func CompactBase(n int64) string { return compactPrefix + strconv.FormatInt(n, 10) }

// ModelCall finds the newest model call of an act: the open turn's, or that of a compaction; nil if it is neither.
func (s *State) ModelCall(act string) *ModelCall {
	if c := s.Compaction; c != nil && c.Model != nil && c.Model.ID == act {
		return c.Model
	}
	if s.Turn != nil && s.Turn.Model != nil && s.Turn.Model.ID == act {
		return s.Turn.Model
	}
	return nil
}

// NewestCall is the model call that the session is at: a compaction's, else the open turn's; nil if there is neither.
func (s *State) NewestCall() *ModelCall {
	switch {
	case s.Compaction != nil && s.Compaction.Model != nil:
		return s.Compaction.Model
	case s.Turn != nil:
		return s.Turn.Model
	}
	return nil
}

// summarizes reports whether a call is the compaction's.
func (s *State) summarizes(m *ModelCall) bool { return s.Compaction != nil && s.Compaction.Model == m }

// ForSummary reports whether a model call's act is a call for a summary. Its reply is no part of the conversation.
func ForSummary(act string) bool {
	return strings.HasPrefix(act, compactPrefix) && !strings.Contains(BaseOf(act), ".")
}

// requestSummary folds the intent of a call for a summary.
func (s *State) requestSummary(b *ModelRequested, e store.Event) {
	c := s.Compaction
	if c == nil {
		c = &Compaction{N: s.Compactions + 1, Reason: b.Reason}
		s.Compaction = c
	}
	if c.Model != nil && c.Model.Status == CallRequested {
		s.fault(e, "call %s is still outstanding", c.Model.ID)
		return
	}
	m := &ModelCall{
		ID: b.Act, Attempt: b.Attempt, Status: CallRequested, Epoch: b.Epoch, Through: b.Through,
		Prefix: b.Prefix, MaxTokens: b.MaxTokens, Estimate: b.Estimate,
	}
	if c.Model != nil {
		m.follow(c.Model)
	}
	c.Model, c.Rung = m, b.Rung
	s.Compactions = max(s.Compactions, c.N)
}

// summarized folds the sealed reply to a call for a summary. One that is no whole summary is none.
func (c *Compaction) summarized(b *ModelResponded, e store.Event) {
	c.Model.answered(b.Stop)
	c.Reply = e.Seq
	if b.Stop != modelapi.StopEndTurn && b.Stop != modelapi.StopToolUse || b.Prose() == "" {
		c.Rung, c.Reply = RungRule, 0
	}
}

// Prose is the readable text of a reply.
func (b *ModelResponded) Prose() string {
	var out []string
	for _, bl := range b.Blocks {
		if bl.Type == model.BlockText && !blank(bl.Shown) {
			out = append(out, strings.TrimSpace(string(bl.Shown)))
		}
	}
	return strings.Join(out, "\n\n")
}

// refused moves a call for a summary that the API will never answer as it is to the next rung.
func (c *Compaction) refused(class string) {
	switch {
	case class == "context" && c.Rung < RungRule:
		c.Rung++
	case class == "invalid" || class == "protocol" && c.Model.RetryAt == 0:
		c.Rung = RungRule
	default:
		return
	}
	c.Model.Status, c.Model.RetryAt = CallLost, 0
}
