package talk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// stream is what came of a reply in pieces: parts of one kind each.
type stream struct {
	kinds []transcript.Kind // of the parts
	more  []byte            // of the newest part: what was not handed on
}

func partID(act string, n int) string { return fmt.Sprintf("said %s %d", act, n) }

// Delta takes words of the model that come. Those of a call that does not run, and of a call for a summary, are no part of
// the conversation.
func (f *Fold) Delta(act, kind, text string) {
	k := transcript.Text
	switch kind {
	case string(modelapi.DeltaText):
	case string(modelapi.DeltaThinking):
		k = transcript.Thinking
	default:
		return
	}
	if act != f.asked || session.ForSummary(act) {
		return
	}
	s := &f.stream
	if n := len(s.kinds); n == 0 || s.kinds[n-1] != k {
		f.spill()
		s.kinds = append(s.kinds, k)
		f.put(transcript.Item{ID: partID(act, n+1), Kind: k, More: true}) // in its place among what else is new
	}
	s.more = append(s.more, text...)
}

// Answers reports whether the newest of what comes of a model call are words for the person.
func (f *Fold) Answers(act string) bool {
	n := len(f.stream.kinds)
	return act != "" && act == f.asked && n > 0 && f.stream.kinds[n-1] == transcript.Text
}

// spill hands on the words that came.
func (f *Fold) spill() {
	s := &f.stream
	if len(s.more) == 0 {
		return
	}
	id, k, text := partID(f.asked, len(s.kinds)), s.kinds[len(s.kinds)-1], string(s.more)
	s.more = s.more[:0]
	if i, ok := f.order[id]; ok {
		f.out.Items[i].Text += text
		return
	}
	f.out.Said = append(f.out.Said, chat.Said{ID: id, Kind: k, Text: text})
}

// drop takes an item away, and what was to be handed on of it.
func (f *Fold) drop(id string) {
	f.out.Said = slices.DeleteFunc(f.out.Said, func(s chat.Said) bool { return s.ID == id })
	if i, ok := f.order[id]; ok {
		f.out.Items = slices.Delete(f.out.Items, i, i+1)
		delete(f.order, id)
		for other, at := range f.order {
			if at > i {
				f.order[other]--
			}
		}
	}
	f.out.Drop = append(f.out.Drop, id)
}

// responded puts the whole reply in the place of the words that came.
func (f *Fold) responded(b *session.ModelResponded) {
	came := f.came(b.Act)
	if session.ForSummary(b.Act) {
		return
	}
	var n int       // parts so far
	called := false // a call is above what comes next
	kind, text := transcript.Text, ""
	flush := func() {
		if text == "" {
			return
		}
		n++
		id := partID(b.Act, n)
		if called && n <= came {
			f.drop(id) // it was shown above the call
		}
		f.put(transcript.Item{ID: id, Kind: kind, Text: f.cfg.Hide(text)})
		text = ""
	}
	for i, bl := range b.Blocks {
		k, words := transcript.Text, string(bl.Shown)
		switch bl.Type {
		case model.BlockText:
		case model.BlockThinking:
			k, words = transcript.Thinking, thought(bl)
		case model.BlockToolUse:
			flush()
			called = true
			f.opens(b.Act, i, bl)
			continue
		default:
			continue
		}
		switch {
		case strings.TrimSpace(words) == "":
		case text != "" && k == kind:
			text += "\n\n" + words
		default:
			flush()
			kind, text = k, words
		}
	}
	flush()
	for n++; n <= came; n++ {
		f.drop(partID(b.Act, n))
	}
}

// came ends a model call, and tells how many parts of its reply came.
func (f *Fold) came(act string) (parts int) {
	if f.asked != act {
		return 0
	}
	f.spill()
	parts = len(f.stream.kinds)
	for n := 1; n <= parts; n++ {
		f.out.Whole = append(f.out.Whole, partID(act, n))
	}
	f.asked, f.stream = "", stream{}
	return parts
}

// failed tells of a call that failed; what came of its reply is no part of the conversation.
func (f *Fold) failed(b *session.ModelFailed) {
	f.forget(b.Act)
	text := fmt.Sprintf("the model call failed: %s", plain.Line(b.Message, 2000))
	if b.Status > 0 {
		text = fmt.Sprintf("the model call failed (%d): %s", b.Status, plain.Line(b.Message, 2000))
	}
	if b.RetryAt > 0 {
		text += fmt.Sprintf("; it is tried again at %s", time.UnixMilli(b.RetryAt).Format("15:04:05"))
	}
	// One line, however often it is tried.
	f.put(transcript.Item{ID: "failed " + session.BaseOf(b.Act), Kind: transcript.Trouble, Text: text})
}

// lost tells of a call whose reply nobody has: what came of one that was cancelled stays, else it is made again.
func (f *Fold) lost(ev store.Event, b *session.ModelLost) {
	if session.ForSummary(b.Act) {
		f.came(b.Act)
		return
	}
	if b.Reason != "cancelled" {
		f.forget(b.Act)
		f.note(ev, transcript.Note, "the reply broke off: the same request goes again")
		return
	}
	f.spill()
	texts, at, kinds := 0, len(f.stream.kinds)+1, f.stream.kinds
	if f.asked != b.Act {
		kinds, at = nil, 1
	}
	for i, k := range kinds {
		if k == transcript.Text {
			texts, at = texts+1, i+1
		}
	}
	f.came(b.Act)
	if len(b.Text) > 0 && texts <= 1 { // of several, nobody knows where one ends and the next begins
		f.put(transcript.Item{ID: partID(b.Act, at), Kind: transcript.Text, Text: f.cfg.Hide(string(b.Text))})
	}
}

// forget drops the words of a call that is made again.
func (f *Fold) forget(act string) {
	for n := f.came(act); n > 0; n-- {
		f.drop(partID(act, n))
	}
}

// thought is what a block of thinking says; providers show it under several names.
func thought(bl session.SealedBlock) string {
	if len(bl.Shown) > 0 {
		return string(bl.Shown)
	}
	var raw struct {
		Thinking         string `json:"thinking"`
		Text             string `json:"text"`
		ReasoningContent string `json:"reasoning_content"`
		Reasoning        string `json:"reasoning"`
	}
	if json.Unmarshal(bl.Raw, &raw) != nil {
		return ""
	}
	return raw.Thinking + raw.Text + raw.ReasoningContent + raw.Reasoning
}
