package talk

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// maxOutput bounds what is kept of a call's output for the screen, in bytes: its end; and maxOutcome its first line, in
// characters.
const (
	maxOutput  = 256 << 10
	maxOutcome = 1000
)

// open takes in a call that the model asks for.
func (f *Fold) opens(act string, block int, bl session.SealedBlock) {
	if len(f.calls) >= maxCalls {
		clear(f.calls)
		clear(f.tasks)
	}
	base := session.CallBase(act, block)
	about := f.about(bl.Input)
	if f.cfg.Dir != "" {
		about = strings.ReplaceAll(about, f.cfg.Dir+"/", "")
	}
	it := &transcript.Item{ID: chat.CallID(base), Kind: transcript.Tool, Call: transcript.Call{
		Act: base, Session: f.cfg.ID, Name: bl.Name, About: about, Diff: f.diff(bl.Name, bl.Input),
	}}
	f.calls[base] = it
	f.put(*it)
}

// about is what a call is about. A secret is replaced before the words are cut: half of one is not known.
func (f *Fold) about(input []byte) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for name, v := range fields {
		if text, ok := v.(string); ok {
			fields[name] = f.cfg.Hide(text)
		}
	}
	hidden, err := json.Marshal(fields)
	if err != nil {
		return ""
	}
	return session.About(hidden)
}

// diff is what a call would change in a file.
func (f *Fold) diff(tool string, input []byte) []transcript.Diff {
	if tool != "Edit" && tool != "Write" {
		return nil
	}
	var in struct {
		Path    string `json:"file_path"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
		Content string `json:"content"`
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	if tool == "Write" {
		in.Old, in.New = "", in.Content
	}
	if rel, err := filepath.Rel(f.cfg.Dir, in.Path); err == nil && !strings.HasPrefix(rel, "..") {
		in.Path = rel
	}
	return []transcript.Diff{{Name: f.cfg.Hide(in.Path), Old: f.cfg.Hide(in.Old), New: f.cfg.Hide(in.New), Part: tool == "Edit" && in.Old != ""}}
}

// settle forgets the calls of a turn that has ended, but for those that go on in the background.
func (f *Fold) settle() {
	for base, it := range f.calls {
		if it.Call.State != transcript.Background {
			delete(f.calls, base)
		}
	}
}

// called takes what becomes of a call; false: the event is about something else.
func (f *Fold) called(ev store.Event, body session.Body) bool {
	about := f.became(ev, body)
	if b, ok := body.(*session.TaskExited); ok {
		how, _ := ending(b)
		f.note(ev, transcript.Note, "%s %s", b.Task, how) // where the conversation is by then
		if len(f.told) >= maxCalls {
			clear(f.told)
		}
		f.told[b.Task] = true
	}
	return about
}

// became has a call tell what became of it; false: the event is about something else.
func (f *Fold) became(ev store.Event, body session.Body) bool {
	act, change := f.change(ev, body)
	if change == nil {
		return false
	}
	if it := f.calls[session.BaseOf(act)]; it != nil {
		change(&it.Call)
		f.put(*it)
	} else {
		f.later(late{ev, body})
	}
	return true
}

// lostWaits is the outcome of a call of which nobody can tell what it did, until a person has said what becomes of its
// files.
const lostWaits = "outcome unknown: waits for your answer"

// notAllowed begins the outcome of a call that a person refused; their words follow, if they gave some.
const notAllowed = "not allowed"

// change is how an event changes which call; nil: none.
func (f *Fold) change(ev store.Event, body session.Body) (act string, change func(*transcript.Call)) {
	set := func(state transcript.State, outcome string) func(*transcript.Call) {
		return func(c *transcript.Call) { c.State, c.Outcome = state, outcome }
	}
	switch b := body.(type) {
	case *session.ToolStarted:
		return b.Act, func(c *transcript.Call) { f.started(c, ev, b) }
	case *session.ToolDetached:
		return b.Act, func(c *transcript.Call) {
			f.tasks[b.Task] = c.Act
			c.State, c.Outcome = transcript.Background, "goes on in the background as "+b.Task
		}
	case *session.ToolVoid:
		return b.Act, set(transcript.Planned, "nothing came of it: "+plain.Line(b.Reason, maxOutcome))
	case *session.ToolUnknown:
		if b.Asks != nil {
			return b.Act, set(transcript.Waiting, lostWaits)
		}
		return b.Act, set(transcript.Unknown, "outcome unknown: "+plain.Line(b.Reason, maxOutcome))
	case *session.ToolFinished:
		return b.Act, func(c *transcript.Call) { finished(c, ev, b) }
	case *session.ApprovalRequested:
		return b.Act, set(transcript.Waiting, "waits for your approval")
	case *session.QuestionAsked:
		return b.Act, set(transcript.Waiting, "waits for your answer")
	case *session.ApprovalAnswered:
		if b.Allow {
			return b.Act, set(transcript.Planned, "allowed")
		}
		if b.Message != "" {
			return b.Act, set(transcript.Planned, notAllowed+": "+plain.Line(b.Message, maxOutcome))
		}
		return b.Act, set(transcript.Planned, notAllowed)
	case *session.QuestionAnswered:
		return b.Act, func(c *transcript.Call) {
			if c.Outcome == lostWaits {
				c.State, c.Outcome = transcript.Unknown, "outcome unknown: "+plain.Line(b.Text, 200)
				return
			}
			c.State, c.Outcome = transcript.Planned, "answered: "+plain.Line(b.Text, 200)
		}
	case *session.TaskExited:
		return f.tasks[b.Task], func(c *transcript.Call) { f.exited(c, ev, b) }
	default:
		return "", nil
	}
}

func (f *Fold) started(c *transcript.Call, ev store.Event, b *session.ToolStarted) {
	c.State, c.Started, c.Outcome = transcript.Running, time.UnixMilli(ev.Time), ""
	if b.Start.Background {
		c.State, c.Outcome = transcript.Background, "runs as "+b.Start.Task
		f.tasks[b.Start.Task] = c.Act
	}
}

// exited ends a command in the background where it was called.
func (f *Fold) exited(c *transcript.Call, ev store.Event, b *session.TaskExited) {
	how, state := ending(b)
	c.State, c.Outcome = state, b.Task+" "+how
	took(c, ev)
	delete(f.tasks, b.Task)
}

// ending is how a command in the background ended.
func ending(b *session.TaskExited) (how string, state transcript.State) {
	switch {
	case b.State.ExitCode != nil && *b.State.ExitCode == 0:
		return "exited 0", transcript.Done
	case b.State.ExitCode != nil:
		return fmt.Sprintf("exited %d", *b.State.ExitCode), transcript.Failed
	case b.State.Signal != "":
		return fmt.Sprintf("%s by %s", b.State.Status, b.State.Signal), transcript.Failed
	}
	return string(b.State.Status), transcript.Failed
}

// took tells how long a call took that has ended.
func took(c *transcript.Call, ev store.Event) {
	if !c.Started.IsZero() {
		c.Took = max(time.UnixMilli(ev.Time).Sub(c.Started), 0)
	}
}

func finished(c *transcript.Call, ev store.Event, b *session.ToolFinished) {
	if c.State == transcript.Background && b.Outcome == session.OutcomeOK {
		return // its start is what finished; it goes on
	}
	said := c.Outcome
	text := strings.TrimSpace(model.Text(b.Content))
	if n := len(text) - maxOutput; n > 0 {
		c.Omitted, text = int64(n), strings.ToValidUTF8(text[n:], "")
	}
	c.Run, c.Output, c.State, c.Outcome = b.Act, text, transcript.Done, gist(c, text)
	switch {
	case b.ExitCode != nil && *b.ExitCode != 0:
		c.State, c.Outcome = transcript.Failed, failure(*b.ExitCode, text)
	case b.Outcome == session.OutcomeDenied && strings.HasPrefix(said, notAllowed):
		c.State, c.Outcome = transcript.Failed, said // in the person's words, not in those for the model
	case b.Outcome != session.OutcomeOK:
		first, _, _ := strings.Cut(text, "\n")
		c.State, c.Outcome = transcript.Failed, string(b.Outcome)+": "+plain.Line(first, maxOutcome)
	}
	if b.Collected {
		c.Outcome = "collected after an interruption: " + c.Outcome
		return // when it ended is not when it was found out
	}
	took(c, ev)
}
