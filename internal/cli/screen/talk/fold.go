// Package talk makes the items of a conversation, as a person reads them, out of a session's events and the words of a
// model call that runs.
//
// A [Fold] sees events in order, and deltas in between; [Fold.Take] gives what has changed since. It holds the calls of
// the newest step and the messages that wait, and nothing else.
package talk

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Fold makes items. It is not safe for concurrent use.
type Fold struct {
	cfg    Config
	calls  map[string]*transcript.Item // of the open turn, and those that go on in the background, by act base
	told   map[string]bool             // tasks whose end was noted, until the model is told of it too
	tasks  map[string]string           // act bases of commands in the background, by task
	late   []late                      // what became of calls that were made before the first event that the fold saw
	queue  []queued
	back   back   // the restore of files that was asked for
	forked forked // the newest event that a fork begins with
	copy   int64  // the event that says which directory of its own the session has; what follows it says the same
	asked  string // the model call that runs; empty: none does
	stream stream // of its words
	out    chat.Changed
	order  map[string]int // places of items in out
	at     int64          // seq of the newest event
}

// Config is what a fold is made of.
type Config struct {
	ID    string                                    // of the session whose log it is
	Dir   string                                    // paths below it are shown without it
	Words func(seq int64) []model.Part              // of a message that was received before the first event that the fold sees
	Draft func([]model.Part) (composer.Draft, bool) // a message as it was written; not ok, nil: its text is
	// Called is what a person calls a session; nil: its id.
	Called func(id string) string
	Hide   func(text string) string // replaces known secrets, which the log has where a model said them; nil: there are none
}

// queued is a message that waits for its turn.
type queued struct {
	seq   int64
	key   string
	parts []model.Part
}

// maxCalls bounds the calls that are held, so that a session with thousands of background tasks does not grow.
const maxCalls = 2000

// New makes a fold.
func New(cfg Config) *Fold {
	if cfg.Hide == nil {
		cfg.Hide = func(text string) string { return text }
	}
	return &Fold{cfg: cfg, calls: map[string]*transcript.Item{}, tasks: map[string]string{}, told: map[string]bool{}, order: map[string]int{}}
}

// Opened takes in what was under way before the first event: messages that wait.
func (f *Fold) Opened(st *session.State, words func(seq int64) []model.Part) {
	for _, q := range st.Queue {
		f.queue = append(f.queue, queued{q.Seq, q.Key, words(q.Seq)})
	}
	f.out.Queues = true
}

// Take gives what has changed, and begins anew.
func (f *Fold) Take() chat.Changed {
	f.spill()
	out := f.out
	if out.Queues {
		out.Queue = f.Queue()
	}
	f.out, f.order = chat.Changed{}, map[string]int{}
	return out
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
		if f.cfg.Draft != nil {
			if d, ok := f.cfg.Draft(q.parts); ok {
				out[i].Draft = &d
			}
		}
	}
	return out
}

func (f *Fold) put(it transcript.Item) {
	it.At = f.at
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

// Event takes an event.
func (f *Fold) Event(ev store.Event, body session.Body) {
	f.at = ev.Seq
	switch b := body.(type) {
	case *session.MessageReceived:
		f.received(ev, b)
	case *session.MessageWithdrawn:
		f.unqueue(b.Seq)
	case *session.TurnStarted:
		f.turn(b)
	case *session.ModelRequested:
		f.spill()
		f.asked, f.stream = b.Act, stream{}
		if session.ForSummary(b.Act) && b.Reason != session.ForHandoff {
			f.note(ev, transcript.Note, "compacting: the model is asked for a summary of about %s tokens", plain.Grouped(b.Estimate))
		}
	case *session.ModelResponded:
		f.responded(b)
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
		if f.copy > 0 && ev.Seq == f.copy+1 {
			return
		}
		if name, ok := taskOfNote(b); ok && f.told[name] { // the person has read it above
			delete(f.told, name)
			return
		}
		if len(b.Changed) > 0 {
			f.note(ev, transcript.Note, "%s", f.cfg.Hide(f.changed(b.Changed)))
			return
		}
		f.note(ev, transcript.Note, "%s", strings.Trim(model.Text(b.Content), "[]"))
		return
	}
	f.queue = append(f.queue, queued{ev.Seq, b.Key, b.Content})
	f.out.Queues, f.out.Told = true, append(f.out.Told, chat.Told(b.Key)...)
}

// taskOfNote is the task about whose end a note tells the model.
func taskOfNote(b *session.MessageReceived) (name string, ok bool) {
	rest, ok := strings.CutPrefix(model.Text(b.Content), session.TaskNote)
	if !ok {
		return "", false
	}
	name, rest, ok = strings.Cut(rest, " ")
	return name, ok && (strings.HasPrefix(rest, "ended with") || strings.HasPrefix(rest, "was ")) // else it says more
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

func (f *Fold) ended(ev store.Event, b *session.TurnEnded) {
	f.came(f.asked)
	f.settle()
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
