package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Reader folds events into a document.
type Reader struct {
	hide   Hide
	hidden int
	turns  []*Turn
	queued map[int64]*Entry // messages that have no turn yet, by seq
	met    map[int64]*Entry // what woke the model, by seq
	calls  map[string]*Call // of the newest turns, by the base of their act
	images int              // bytes that are kept of them
}

// NewReader reads with the secrets hidden that hide finds.
func NewReader(hide Hide) *Reader {
	return &Reader{hide: hide, queued: map[int64]*Entry{}, met: map[int64]*Entry{}, calls: map[string]*Call{}}
}

// Add reads the next event. One that cannot be decoded is told of in its place.
func (r *Reader) Add(e store.Event) {
	body, err := session.Decode(e)
	if err != nil {
		r.event(e, fmt.Sprintf("Event %d cannot be read", e.Seq), err.Error())
		return
	}
	switch b := body.(type) {
	case *session.Forked:
		r.event(e, "Forked from session "+b.Parent.Session+" at event "+strconv.FormatInt(b.Parent.Seq, 10), "")
		r.queued = map[int64]*Entry{} // queued messages stay with the parent
	case *session.Imported:
		r.event(e, "Imported; it belongs to "+b.Root+" from here on", "")
	case *session.MessageReceived:
		r.message(e, b)
	case *session.TurnStarted:
		r.start(e, b)
	case *session.TurnEnded:
		r.end(e, b)
	case *session.AwaitMet:
		r.met[e.Seq] = r.entry(e, Note, string(b.Text))
	case *session.AwaitDropped:
		r.text(e, Note, string(b.Text))
	case *session.PlanEdited:
		r.text(e, Note, string(b.Text))
	case *session.ContextGiven:
		r.given(e, b)
	case *session.Compacted:
		r.compacted(e, b)
	case *session.HandoffWritten:
		r.event(e, "Handoff written", string(b.Text))
	case *session.LifecycleSet:
		r.event(e, "The session is "+string(b.To), "")
	case *session.Configured:
		r.configured(e, b)
	case *session.TaskExited:
		r.event(e, "Task "+b.Task+" "+ended(b.State), "")
	default:
		r.act(e, body)
	}
}

// act reads what belongs to a call of a model or of a tool.
func (r *Reader) act(e store.Event, body session.Body) {
	switch b := body.(type) {
	case *session.ModelResponded:
		r.reply(e, b)
	case *session.ModelFailed:
		r.event(e, "The model call failed: "+b.Class, b.Message)
	case *session.ModelLost:
		r.event(e, "The model call broke off: "+b.Reason, string(b.Text))
	case *session.ApprovalRequested:
		r.onCall(b.Act, func(c *Call) { c.Asked = r.say(orElse(b.Reason, "it has to be allowed")) })
	case *session.ApprovalAnswered:
		r.onCall(b.Act, func(c *Call) { c.Answered = r.answer(e, b) })
	case *session.QuestionAnswered:
		r.onCall(b.Act, func(c *Call) { c.Answered = r.say("answered by " + who(e) + ": " + b.Text) })
	case *session.ToolStarted:
		r.onCall(b.Act, func(c *Call) { c.Started = e.Time })
	case *session.ToolDetached:
		r.onCall(b.Act, func(c *Call) { c.Task = b.Task })
	case *session.ToolFinished:
		r.onCall(b.Act, func(c *Call) {
			c.Ended, c.Outcome, c.Reason, c.ExitCode = e.Time, string(b.Outcome), r.say(b.Reason), b.ExitCode
			c.Result, c.Parts = r.content(b.Content, plain.Redrawn)
		})
	case *session.ToolUnknown:
		r.onCall(b.Act, func(c *Call) {
			c.Ended, c.Outcome, c.Reason = e.Time, string(session.OutcomeUnknown), r.say(b.Reason)
			c.Result, c.Parts = r.content(b.Content, plain.Redrawn)
		})
	default: // what people do not read for: it is in the log
	}
}

// Document is what was read, with what is known of the session now.
func (r *Reader) Document(v *view.Session, written time.Time) *Document {
	for _, seq := range slices.Sorted(mapKeys(r.met)) { // what woke nobody yet
		r.add(r.met[seq])
	}
	d := &Document{Session: r.head(v), Turns: r.turns, Written: written, zone: written.Location(), Redacted: r.hide != nil}
	for _, seq := range slices.Sorted(mapKeys(r.queued)) {
		d.Queued = append(d.Queued, r.queued[seq])
	}
	d.Hidden = r.hidden
	return d
}

// head is the session with its texts hidden, as far as documents show them.
func (r *Reader) head(v *view.Session) *view.Session {
	c := *v
	c.Title, c.Cwd = r.say(v.Title), r.say(v.Cwd)
	c.Plan, c.Tasks = slices.Clone(v.Plan), slices.Clone(v.Tasks)
	for i := range c.Plan {
		c.Plan[i].Content = r.say(c.Plan[i].Content)
	}
	for i := range c.Tasks {
		c.Tasks[i].Command, c.Tasks[i].Name = r.say(c.Tasks[i].Command), r.say(c.Tasks[i].Name)
	}
	return &c
}

// say hides the secrets in a text and counts them.
func (r *Reader) say(text string) string {
	if r.hide == nil || text == "" {
		return text
	}
	text, n := r.hide(text)
	r.hidden += n
	return text
}

func (r *Reader) entry(e store.Event, k Kind, text string) *Entry {
	return &Entry{Kind: k, Time: e.Time, By: who(e), Text: r.say(text)}
}

// now is the turn that entries belong to.
func (r *Reader) now() *Turn {
	if len(r.turns) == 0 {
		r.turns = append(r.turns, &Turn{})
	}
	return r.turns[len(r.turns)-1]
}

func (r *Reader) add(entry *Entry) {
	t := r.now()
	if t.Started == 0 {
		t.Started = entry.Time
	}
	t.Entries = append(t.Entries, entry)
}

// text adds an entry, unless there are no words.
func (r *Reader) text(e store.Event, k Kind, text string) {
	if strings.TrimSpace(text) != "" {
		r.add(r.entry(e, k, text))
	}
}

func (r *Reader) event(e store.Event, label, text string) {
	entry := r.entry(e, Event, text)
	entry.Label = r.say(label)
	r.add(entry)
}

func (r *Reader) message(e store.Event, b *session.MessageReceived) {
	entry := &Entry{Kind: Prompt, Time: e.Time, By: who(e)}
	entry.Text, entry.Parts = r.content(b.Content, plain.LineEnds)
	if b.Note {
		entry.Kind = Note
		r.add(entry)
		return
	}
	r.queued[e.Seq] = entry
}

// start begins a turn with the words that it answers.
func (r *Reader) start(e store.Event, b *session.TurnStarted) {
	t := &Turn{N: b.N, Started: e.Time}
	r.turns = append(r.turns, t)
	r.calls = map[string]*Call{}
	for _, seq := range slices.Sorted(mapKeys(r.met)) {
		t.Entries = append(t.Entries, r.met[seq])
	}
	clear(r.met)
	if m := r.queued[b.Message]; m != nil {
		t.Entries = append(t.Entries, m)
		delete(r.queued, b.Message)
	}
}

func (r *Reader) end(e store.Event, b *session.TurnEnded) {
	t := r.now()
	t.Ended, t.Stop, t.Message = e.Time, b.Stop, r.say(b.Message)
}

func (r *Reader) given(e store.Event, b *session.ContextGiven) {
	for _, g := range b.Texts {
		text := g.Said
		if len(text) == 0 {
			text = g.Text
		}
		entry := r.entry(e, Given, string(text))
		entry.Label = r.say(strings.TrimSpace(g.Name + " " + g.Path))
		r.add(entry)
	}
}

func (r *Reader) compacted(e store.Event, b *session.Compacted) {
	var text strings.Builder
	for _, p := range b.Parts {
		_, _ = fmt.Fprintf(&text, "[%s]\n%s\n\n", p.Name, p.Text)
	}
	r.event(e, fmt.Sprintf("Conversation compacted (by the %s): about %d tokens became %d", b.By, b.TokensBefore, b.TokensAfter), strings.TrimSpace(text.String()))
}

func (r *Reader) configured(e store.Event, b *session.Configured) {
	if b.Provider != nil && b.Model != nil {
		r.event(e, "Model: "+*b.Provider+"/"+*b.Model, "")
	}
	if b.Mode != nil {
		r.event(e, "Permission mode: "+*b.Mode, "")
	}
	if b.Cwd != nil {
		r.event(e, "Directory: "+*b.Cwd, "")
	}
}

func (r *Reader) answer(e store.Event, b *session.ApprovalAnswered) string {
	verdict := "denied"
	if b.Allow {
		verdict = "allowed"
	}
	text := verdict + " by " + who(e)
	if b.Grant != "" {
		text += ", and its like for the session"
	}
	if b.Message != "" {
		text += ": " + b.Message
	}
	return r.say(text)
}

func (r *Reader) onCall(act string, do func(*Call)) {
	if c := r.calls[session.BaseOf(act)]; c != nil {
		do(c)
	}
}

func who(e store.Event) string {
	if e.Actor.ID != "" {
		return e.Actor.ID
	}
	return string(e.Actor.Type)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func ended(s command.State) string {
	switch {
	case s.ExitCode != nil:
		return "ended with exit code " + strconv.Itoa(*s.ExitCode)
	case s.Signal != "":
		return "was killed: " + s.Signal
	}
	return "ended: " + string(s.Status)
}

// texts joins what is text in parts.
func texts(parts []model.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Type == model.BlockText {
			_, _ = b.Write(p.Data)
		}
	}
	return b.String()
}
