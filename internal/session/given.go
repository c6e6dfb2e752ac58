package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// GivenText is a text that nobody said and that the model is given: instructions from a file, or what earlier sessions
// noted. The newest of a name and path holds; it survives compaction.
type GivenText struct {
	Name   string       `json:"name"`            // of the part of the context
	Path   string       `json:"path,omitempty"`  // of the file that it was read from
	Digest store.Digest `json:"digest,omitzero"` // of the file's bytes; zero: it is gone, or there was no file
	Text   []byte       `json:"-"`               // as it is sent; empty: what was given before holds no more
	Said   []byte       `json:"-"`               // what is sent now in the place of Text, where only a part of it is new
}

// ContextGiven puts texts into the conversation, before the next prompt.
type ContextGiven struct {
	Why   string      `json:"why"` // see GivenStart and the others
	Texts []GivenText `json:"texts"`
}

// Why a text is given.
const (
	GivenStart   = "start"   // the session begins
	GivenChanged = "changed" // a file that was given is not as it was
	GivenTouched = "touched" // the session reached a directory that has instructions of its own
)

func (b *ContextGiven) summary() string {
	names := make([]string, len(b.Texts))
	for i, t := range b.Texts {
		names[i] = strings.TrimSpace(t.Name + " " + t.Path)
	}
	return b.Why + ": " + strings.Join(names, ", ")
}

func (b *ContextGiven) parts() []*[]byte {
	out := make([]*[]byte, 0, 2*len(b.Texts))
	for i := range b.Texts {
		out = append(out, &b.Texts[i].Text, &b.Texts[i].Said)
	}
	return out
}

func (b *ContextGiven) show(m map[string]any) {
	texts := make([]any, len(b.Texts))
	for i, t := range b.Texts {
		one := map[string]any{"name": t.Name, "text": string(t.Text)}
		if t.Path != "" {
			one["path"] = t.Path
		}
		if len(t.Said) > 0 {
			one["said"] = string(t.Said)
		}
		texts[i] = one
	}
	m["texts"] = texts
}

// The names of given texts, in the order in which a session begins with them.
const (
	GivenInstructions = "instructions" // of a file
	GivenMemory       = "memory"       // the indexes, and the newest days of the journal
	GivenState        = "state"        // the scratch state that the session begins with
	GivenPlan         = "earlier_plan"
	GivenHandoff      = "handoff"
	GivenCommits      = "commits" // since the handoff
)

// Given is what a state knows of a given text.
type Given struct {
	Name   string       `json:"name"`
	Path   string       `json:"path,omitempty"`
	Digest store.Digest `json:"digest,omitzero"`
	Size   int64        `json:"size"` // bytes, as it is sent
	Seq    int64        `json:"seq"`
}

func (b *ContextGiven) apply(s *State, e store.Event) {
	for _, t := range b.Texts {
		s.Context.Fresh += int64(len(t.said()))
		i := slices.IndexFunc(s.Given, func(g Given) bool { return g.Name == t.Name && g.Path == t.Path })
		switch g := (Given{Name: t.Name, Path: t.Path, Digest: t.Digest, Size: int64(len(t.Text)), Seq: e.Seq}); {
		case i >= 0:
			s.Given = slices.Clone(s.Given) // shared with copies
			s.Given[i] = g
		case len(s.Given) >= MaxGiven:
			s.fault(e, "more than %d given texts", MaxGiven)
		default:
			s.Given = append(slices.Clip(s.Given), g)
		}
	}
}

// said is what the model is sent when the text is given.
func (t GivenText) said() []byte {
	if len(t.Said) > 0 {
		return t.Said
	}
	return t.Text
}

// MaxGiven bounds the given texts of a session.
const MaxGiven = 128

// ownGiven makes the inherited given texts the child's: their events are in the parent's log, and the handoff that the
// parent began with is the parent's to replace or to put back.
func (s *State) ownGiven() {
	s.Given = slices.Clone(s.Given)
	for i := range s.Given {
		g := &s.Given[i]
		if g.Seq -= s.Parent.Seq; g.Name == GivenHandoff {
			g.Digest = store.Digest{}
		}
	}
}

// GivenSize is how many bytes of given texts every request holds.
func (s *State) GivenSize() (n int64) {
	for _, g := range s.Given {
		n += g.Size
	}
	return n
}

// GivenPart is a given text of a transcript.
type GivenPart struct {
	Part    ContextPart
	Bytes   int64 // of what was sent, which may be less than Part holds
	Message int   // index in [Transcript.Upcoming] of the message that it was given with
}

func (b *ContextGiven) speak(t *Transcript, e store.Event) {
	for _, g := range b.Texts {
		t.note(g.said())
		t.given = append(slices.Clip(t.given), GivenPart{
			Part:  ContextPart{Name: g.Name, Path: g.Path, Given: true, Seq: e.Seq, Text: g.Text},
			Bytes: int64(len(g.said())), Message: notSent,
		})
	}
}

// notSent stands in the place of a message's index until there is one.
const notSent = -1

// Given lists the texts that were given since the conversation, or its newest compaction, began, oldest first.
func (t *Transcript) Given() []GivenPart {
	out := slices.Clone(t.given)
	for i := range out {
		if out[i].Message == notSent {
			out[i].Message = len(t.messages)
		}
	}
	return out
}

// sendGiven notes with which message the given texts that wait are sent.
func (t *Transcript) sendGiven(message int) {
	t.given = slices.Clone(t.given)
	for i := range t.given {
		if t.given[i].Message == notSent {
			t.given[i].Message = message
		}
	}
}

// NewestGiven are the given texts that hold before a message: those that the conversation's compaction kept, and what
// was given since; of the same name and path the newest. Those that hold no more are left out.
func (t *Transcript) NewestGiven(before int) []ContextPart {
	var out []ContextPart
	put := func(p ContextPart) {
		i := slices.IndexFunc(out, func(o ContextPart) bool { return o.Name == p.Name && o.Path == p.Path })
		if i >= 0 {
			out[i] = p
			return
		}
		out = append(out, p)
	}
	for _, p := range t.Kept() {
		if p.Given {
			put(p)
		}
	}
	for _, g := range t.Given() {
		if g.Message < before {
			put(g.Part)
		}
	}
	return slices.DeleteFunc(out, func(p ContextPart) bool { return len(p.Text) == 0 })
}

// String says what a given text is, for people.
func (g Given) String() string {
	if g.Path == "" {
		return g.Name
	}
	return fmt.Sprintf("%s %s", g.Name, g.Path)
}
