package session

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/perdure/perdure/model"
)

// place is an event of a session's log, or of an ancestor's.
type place struct {
	in  string
	seq int64
}

// overlaid is what a transcript knows of the compaction that it begins with.
type overlaid struct {
	n     int64
	at    place
	bytes int64 // bound of tool results before it; 0: none
	parts []ContextPart
}

// start is where a turn began, and with which message.
type start struct {
	at      place
	message int64
}

// Cut is where a conversation can be cut in two: before a reply, when everything that came before it was sent. Calls
// and their results stay together.
type Cut struct {
	In      string // the session in whose log it is
	Through int64  // the newest event before the cut
	Sent    int64  // Through of the request before the cut
	Message int    // index of the reply in [Transcript.Messages]
}

// Prompt is a message that a turn began with.
type Prompt struct {
	Seq     int64 // of the message, in the log that it came to
	Met     bool  // it is no message, but what came of an await
	Content []model.Part
	Message int // index in [Transcript.Upcoming] of the message that it is in
}

// Prompts are the messages that turns of the conversation began with, oldest first, those that wait for the next
// request too. What a compaction kept is in its parts instead.
func (t *Transcript) Prompts() []Prompt {
	out := slices.Clone(t.prompts)
	for _, p := range t.unsent {
		p.Message = len(t.messages)
		out = append(out, p)
	}
	return out
}

// Kept are the parts of the compaction that the conversation begins with.
func (t *Transcript) Kept() []ContextPart { return t.overlay.parts }

// From tells in whose log the next events are.
func (t *Transcript) From(session string) { t.in = session }

// Cuts lists where the conversation can be cut, oldest first.
func (t *Transcript) Cuts() []Cut { return slices.Clone(t.cuts) }

// End is the cut after the newest reply, if everything that was said has been sent and answered.
func (t *Transcript) End() (Cut, bool) {
	n := len(t.messages)
	ok := n > 0 && t.messages[n-1].Role == model.RoleAssistant && !t.paused && len(t.calls)+len(t.notes)+len(t.prompt) == 0
	return Cut{In: t.replied.in, Through: t.replied.seq, Sent: t.through, Message: n}, ok
}

// compact begins the conversation with what a compaction kept. Read after something else, as in a whole log, it
// changes nothing.
func (t *Transcript) compact(b *Compacted, seq int64) {
	begun := len(t.messages) > 0 || len(t.prompt) > 0 || len(t.queued) > 0 || t.overlay.n > 0
	if begun {
		return
	}
	in := b.In
	if in == "" {
		in = t.in
	}
	*t = Transcript{sealed: place{in, b.Through}, in: t.in, overlay: overlaid{n: b.N, at: place{t.in, seq}, bytes: b.CutResults, parts: b.Parts}, through: b.Sent}
	msg := model.Message{Role: model.RoleUser}
	for _, p := range b.Parts {
		msg.Blocks = append(msg.Blocks, model.Block{Type: model.BlockText, Text: string(p.Text)})
	}
	if len(msg.Blocks) > 0 {
		t.messages = []model.Message{msg}
	}
}

// kept reports whether an event is older than the compaction that the transcript begins with.
func (t *Transcript) kept(seq int64) bool {
	return t.overlay.n > 0 && (t.in != t.overlay.at.in || seq < t.overlay.at.seq)
}

// cut gives a result as it is shown: whole, or its beginning and end, if a compaction made it short.
func (t *Transcript) cut(act string, content []model.Part, seq int64) []model.Part {
	if t.overlay.bytes == 0 || !t.kept(seq) {
		return content
	}
	return Shorten(act, content, t.overlay.bytes)
}

// Shorten cuts a tool result to about limit bytes, its beginning and its end, and names the act by which the whole of
// it can be read again. Images and documents are only named.
func Shorten(act string, content []model.Part, limit int64) []model.Part {
	text := model.Text(content)
	if ContentSize(content) <= limit {
		return content
	}
	head := CutEnd(text, int(limit*2/3))
	tail := CutStart(text[len(head):], int(limit/3))
	left := len(text) - len(head) - len(tail)
	return []model.Part{model.TextPart(fmt.Sprintf("%s\n[%d bytes of this result are left out here. History with {\"act\": %q} reads the whole of it.]\n%s", head, left, BaseOf(act), tail))}
}

// CutEnd is the beginning of a text, at most n bytes, in whole characters.
func CutEnd(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CutMiddle is a text of at most about n bytes: its beginning and its end, with a mark between them.
func CutMiddle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := CutEnd(s, n/2)
	return head + "\n[…]\n" + CutStart(s[len(head):], n/2)
}

// CutStart is the end of a text, at most n bytes, in whole characters.
func CutStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// TailAfter lists where the events after a cut are: first those messages before it that a later turn, or none yet,
// begins with, then everything after it.
func (s *State) TailAfter(t *Transcript, c Cut) []Range {
	conv := s.Conversation()
	first := -1
	for i, r := range conv {
		if r.Session == c.In && r.From <= c.Through+1 && c.Through <= r.To && (i > 0 || t.overlay.n == 0) {
			first = i
		}
	}
	switch {
	case first < 0 && t.overlay.n > 0:
		return conv[1:] // before the oldest reply that the compaction before kept
	case first < 0:
		return conv
	}
	var out []Range
	one := func(session string, seq int64) {
		if session == c.In && seq > 0 && seq <= c.Through && !slices.Contains(out, Range{Session: session, From: seq, To: seq}) {
			out = append(out, Range{Session: session, From: seq, To: seq})
		}
	}
	for _, st := range t.starts {
		if st.at.in == c.In && st.at.seq > c.Through || laterThan(conv, first, st.at) {
			one(st.at.in, st.message)
		}
	}
	for _, q := range s.Queue {
		one(s.ID, q.Seq)
	}
	rest := conv[first]
	if rest.From = c.Through + 1; rest.From <= rest.To {
		out = append(out, rest)
	}
	return append(out, conv[first+1:]...)
}

// laterThan reports whether a place is in a range after the i-th.
func laterThan(rs []Range, i int, p place) bool {
	return slices.ContainsFunc(rs[i+1:], func(r Range) bool {
		return r.Session == p.in && r.From <= p.seq && p.seq <= r.To
	})
}
