// Package talk makes the items of a conversation, as a person reads them, out of a session's events and the words of a
// model call that runs.
//
// A [Fold] sees events in order, and deltas in between; [Fold.Take] gives what has changed since. It holds the calls of
// the newest step and the messages that wait, and nothing else.
package talk

import (
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Fold makes items. It is not safe for concurrent use.
type Fold struct {
	cfg    Config
	calls  map[string]*transcript.Item // of the newest step, and those that go on in the background, by act base
	tasks  map[string]string           // act bases of commands in the background, by task
	queue  []queued
	stream stream
	out    chat.Changed
	order  map[string]int // places of items in out
}

// Config is what a fold is made of.
type Config struct {
	Dir   string                       // paths below it are shown without it
	Words func(seq int64) []model.Part // of a message that was received before the first event that the fold sees
	Live  bool                         // the events are those that come now, not earlier ones
}

// queued is a message that waits for its turn.
type queued struct {
	seq   int64
	key   string
	parts []model.Part
}

// stream is a model call whose words come.
type stream struct {
	act  string
	kind transcript.Kind
	n    int
	ids  []string
}

// maxCalls bounds the calls that are held, so that a session with thousands of background tasks does not grow.
const maxCalls = 2000

// New makes a fold.
func New(cfg Config) *Fold {
	return &Fold{cfg: cfg, calls: map[string]*transcript.Item{}, tasks: map[string]string{}, order: map[string]int{}}
}

// Opened takes in what was under way before the first event: messages that wait, and the calls of the open step.
func (f *Fold) Opened(st *session.State, words func(seq int64) []model.Part) {
	for _, q := range st.Queue {
		f.queue = append(f.queue, queued{q.Seq, q.Key, words(q.Seq)})
	}
	f.out.Queues = true
}

// Take gives what has changed, and begins anew.
func (f *Fold) Take() chat.Changed {
	out := f.out
	if out.Queues {
		out.Queue = f.Queue()
	}
	f.out, f.order = chat.Changed{}, map[string]int{}
	return out
}

// Changed reports whether there is something to take.
func (f *Fold) Changed() bool {
	return len(f.out.Items)+len(f.out.Said)+len(f.out.Drop)+len(f.out.Whole) > 0 || f.out.Queues
}

// Queue are the messages that wait, the oldest first.
func (f *Fold) Queue() []chat.Queued {
	out := make([]chat.Queued, len(f.queue))
	for i, q := range f.queue {
		text, with := Words(q.parts)
		if text == "" && len(with) > 0 {
			text = "[" + with[0] + "]"
		}
		out[i] = chat.Queued{Key: q.key, Text: text}
	}
	return out
}

func (f *Fold) put(it transcript.Item) {
	if i, ok := f.order[it.ID]; ok {
		f.out.Items[i] = it
		return
	}
	f.order[it.ID] = len(f.out.Items)
	f.out.Items = append(f.out.Items, it)
}

func (f *Fold) note(ev store.Event, kind transcript.Kind, format string, args ...any) {
	f.put(transcript.Item{ID: fmt.Sprintf("note %d", ev.Seq), Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// Delta takes words of the model that come.
func (f *Fold) Delta(act, kind, text string) {
	k := transcript.Text
	switch kind {
	case string(model.DeltaText):
	case string(model.DeltaThinking):
		k = transcript.Thinking
	default:
		return
	}
	s := &f.stream
	if s.act != act {
		*s = stream{act: act}
	}
	if s.n == 0 || s.kind != k {
		s.n++
		s.kind = k
		s.ids = append(s.ids, partID(act, s.n))
	}
	id := s.ids[len(s.ids)-1]
	if n := len(f.out.Said); n > 0 && f.out.Said[n-1].ID == id {
		f.out.Said[n-1].Text += text
		return
	}
	f.out.Said = append(f.out.Said, chat.Said{ID: id, Kind: k, Text: text, After: len(f.out.Items)})
}

func partID(act string, n int) string { return fmt.Sprintf("said %s %d", act, n) }

// Event takes an event.
func (f *Fold) Event(ev store.Event, body session.Body) {
	switch b := body.(type) {
	case *session.MessageReceived:
		f.received(ev, b)
	case *session.MessageWithdrawn:
		f.unqueue(b.Seq)
	case *session.TurnStarted:
		f.turn(b)
	case *session.ModelRequested:
		if session.ForSummary(b.Act) && b.Reason != session.ForHandoff {
			f.note(ev, transcript.Note, "compacting: the model is asked for a summary of about %s tokens", plain.Grouped(b.Estimate))
		}
	case *session.ModelResponded:
		if !session.ForSummary(b.Act) {
			f.responded(b)
		}
	case *session.ModelFailed:
		f.failed(b)
	case *session.ModelLost:
		f.lost(ev, b)
	case *session.TurnEnded:
		f.ended(ev, b)
	default:
		if !f.called(ev, body) {
			f.besides(ev, body)
		}
	}
}

func (f *Fold) received(ev store.Event, b *session.MessageReceived) {
	if b.Note {
		f.note(ev, transcript.Note, "%s", strings.Trim(model.Text(b.Content), "[]"))
		return
	}
	f.queue = append(f.queue, queued{ev.Seq, b.Key, b.Content})
	f.out.Queues = true
}

func (f *Fold) unqueue(seq int64) (parts []model.Part, ok bool) {
	for i, q := range f.queue {
		if q.seq == seq {
			f.queue = append(f.queue[:i:i], f.queue[i+1:]...)
			f.out.Queues = true
			return q.parts, true
		}
	}
	return nil, false
}

// hush notes that no more is said of what was.
func (f *Fold) hush() {
	f.out.Whole = append(f.out.Whole, f.stream.ids...)
	f.stream = stream{}
}

// turn begins one: its message leaves the queue and enters the conversation.
func (f *Fold) turn(b *session.TurnStarted) {
	parts, ok := f.unqueue(b.Message)
	if b.Met {
		return // what was met is there as a note
	}
	if !ok && f.cfg.Words != nil {
		parts = f.cfg.Words(b.Message)
	}
	text, with := Words(parts)
	f.put(transcript.Item{ID: fmt.Sprintf("turn %d", b.N), Kind: transcript.Person, Text: text, With: with})
}

// responded puts the whole reply in the place of the words that came.
func (f *Fold) responded(b *session.ModelResponded) {
	said := f.stream
	f.hush()
	n, was := 0, transcript.Note
	var text strings.Builder
	flush := func() {
		if n > 0 && strings.TrimSpace(text.String()) != "" {
			f.put(transcript.Item{ID: partID(b.Act, n), Kind: was, Text: text.String()})
		}
		text.Reset()
	}
	for i, bl := range b.Blocks {
		kind, words := transcript.Text, string(bl.Shown)
		switch bl.Type {
		case model.BlockText:
		case model.BlockThinking:
			kind, words = transcript.Thinking, thought(bl)
			if words == "" && said.act == b.Act {
				words = " " // it came in pieces, and the pieces stay
			}
		case model.BlockToolUse:
			flush()
			was = transcript.Tool
			f.open(b.Act, i, bl)
			continue
		default:
			continue
		}
		if n == 0 || kind != was {
			flush()
			n, was = n+1, kind
		} else if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(words)
	}
	flush()
	if said.act == b.Act { // pieces of which there is no block
		for i := n; i < len(said.ids); i++ {
			f.out.Drop = append(f.out.Drop, said.ids[i])
		}
	}
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

func (f *Fold) lost(ev store.Event, b *session.ModelLost) {
	if session.ForSummary(b.Act) {
		return
	}
	if b.Reason != "cancelled" {
		f.forget(b.Act)
		f.note(ev, transcript.Note, "the reply broke off: the same request goes again")
		return
	}
	if len(b.Text) > 0 && f.stream.act != b.Act {
		f.put(transcript.Item{ID: partID(b.Act, 1), Kind: transcript.Text, Text: string(b.Text)})
	}
	f.hush()
}

// forget drops the words of a call that is made again.
func (f *Fold) forget(act string) {
	if f.stream.act == act {
		f.out.Drop = append(f.out.Drop, f.stream.ids...)
		f.stream = stream{}
	}
}

func (f *Fold) ended(ev store.Event, b *session.TurnEnded) {
	f.hush()
	switch b.Stop {
	case session.TurnEndTurn:
	case session.TurnCancelled:
		f.note(ev, transcript.Note, "cancelled")
	default:
		text := "the turn ended: " + strings.ReplaceAll(b.Stop, "_", " ")
		if b.Message != "" {
			text += ": " + plain.Line(b.Message, 2000)
		}
		f.note(ev, transcript.Trouble, "%s", text)
	}
}
