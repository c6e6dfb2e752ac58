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
	"github.com/perdure/perdure/internal/ui/diffview"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// maxOutput bounds what is kept of a call's output for the screen, in bytes: its end.
const maxOutput = 256 << 10

// open takes in a call that the model asks for.
func (f *Fold) open(act string, block int, bl session.SealedBlock) {
	if len(f.calls) >= maxCalls {
		clear(f.calls)
		clear(f.tasks)
	}
	base := session.CallBase(act, block)
	about := session.About(bl.Input)
	if f.cfg.Dir != "" {
		about = strings.ReplaceAll(about, f.cfg.Dir+"/", "")
	}
	it := &transcript.Item{ID: chat.CallID(base), Kind: transcript.Tool, Call: transcript.Call{
		Act: base, Name: bl.Name, About: about, Diff: f.diff(bl.Name, bl.Input),
	}}
	f.calls[base] = it
	f.put(*it)
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
	return []transcript.Diff{{Name: in.Path, Old: in.Old, New: in.New}}
}

// called takes what becomes of a call; false: the event is about something else.
func (f *Fold) called(ev store.Event, body session.Body) bool {
	switch b := body.(type) {
	case *session.ToolStarted:
		f.change(b.Act, func(c *transcript.Call) {
			c.State, c.Started, c.Outcome = transcript.Running, time.UnixMilli(ev.Time), ""
			if b.Start.Background {
				c.State, c.Outcome = transcript.Background, "runs as "+b.Start.Task
				f.tasks[b.Start.Task] = session.BaseOf(b.Act)
			}
		})
	case *session.ToolDetached:
		f.tasks[b.Task] = session.BaseOf(b.Act)
		f.change(b.Act, func(c *transcript.Call) {
			c.State, c.Outcome = transcript.Background, "goes on in the background as "+b.Task
		})
	case *session.ToolVoid:
		f.change(b.Act, func(c *transcript.Call) { c.State, c.Outcome = transcript.Planned, "nothing came of it: "+b.Reason })
	case *session.ToolUnknown:
		f.change(b.Act, func(c *transcript.Call) { c.State, c.Outcome = transcript.Unknown, "outcome unknown: "+b.Reason })
	case *session.ToolFinished:
		f.finished(ev, b)
	case *session.ApprovalRequested:
		f.change(b.Act, func(c *transcript.Call) { c.State, c.Outcome = transcript.Waiting, "waits for your approval: ctrl+o" })
	case *session.QuestionAsked:
		f.change(b.Act, func(c *transcript.Call) { c.State, c.Outcome = transcript.Waiting, "waits for your answer: ctrl+o" })
	case *session.ApprovalAnswered:
		f.change(b.Act, func(c *transcript.Call) {
			if c.State, c.Outcome = transcript.Planned, "allowed"; !b.Allow {
				c.Outcome = "not allowed"
			}
		})
	case *session.QuestionAnswered:
		f.change(b.Act, func(c *transcript.Call) {
			c.State, c.Outcome = transcript.Planned, "answered: "+plain.Line(b.Text, 200)
		})
	case *session.TaskExited:
		f.exited(ev, b)
	default:
		return false
	}
	return true
}

func (f *Fold) change(act string, do func(*transcript.Call)) {
	if it := f.calls[session.BaseOf(act)]; it != nil {
		do(&it.Call)
		f.put(*it)
	}
}

func (f *Fold) finished(ev store.Event, b *session.ToolFinished) {
	f.change(b.Act, func(c *transcript.Call) {
		if c.State == transcript.Background && b.Outcome == session.OutcomeOK {
			return // its start is what finished; it goes on
		}
		text := strings.TrimSpace(model.Text(b.Content))
		if n := len(text) - maxOutput; n > 0 {
			c.Omitted, text = int64(n), strings.ToValidUTF8(text[n:], "")
		}
		c.Output, c.State, c.Outcome = text, transcript.Done, gist(c, text)
		switch {
		case b.ExitCode != nil && *b.ExitCode != 0:
			c.State, c.Outcome = transcript.Failed, failure(*b.ExitCode, text)
		case b.Outcome != session.OutcomeOK:
			first, _, _ := strings.Cut(text, "\n")
			c.State, c.Outcome = transcript.Failed, string(b.Outcome)+": "+first
		}
		if b.Collected {
			c.Outcome = "collected after an interruption: " + c.Outcome
		}
		if !c.Started.IsZero() {
			c.Took = time.UnixMilli(ev.Time).Sub(c.Started)
		}
	})
}

// gist is what a call gave, in a few words: of a command the last line, since that says how it went.
func gist(c *transcript.Call, text string) string {
	if len(c.Diff) == 1 {
		added, removed := diffview.Stat(c.Diff[0].Old, c.Diff[0].New)
		return fmt.Sprintf("+%s -%s", plain.Grouped(int64(added)), plain.Grouped(int64(removed)))
	}
	lines := strings.Count(text, "\n")
	if lines == 0 {
		return text
	}
	count := plain.Grouped(int64(lines+1)) + " lines"
	switch c.Name {
	case "Read", "Glob", "Grep":
		return count
	case "Bash":
		return count + ", at last: " + text[strings.LastIndexByte(text, '\n')+1:]
	}
	first, _, _ := strings.Cut(text, "\n")
	return count + ": " + first
}

// failure is how a command failed, with the last line that it printed.
func failure(code int, text string) string {
	how := fmt.Sprintf("exit code %d", code)
	text = strings.TrimSpace(strings.TrimSuffix(text, how)) // the result ends with it
	if last := text[strings.LastIndexByte(text, '\n')+1:]; last != "" {
		return how + ": " + last
	}
	return how
}

// exited tells how a background command ended, at its call and where the conversation is.
func (f *Fold) exited(ev store.Event, b *session.TaskExited) {
	how, state := string(b.State.Status), transcript.Failed
	switch {
	case b.State.ExitCode != nil:
		if how = fmt.Sprintf("exited %d", *b.State.ExitCode); *b.State.ExitCode == 0 {
			state = transcript.Done
		}
	case b.State.Signal != "":
		how += " by " + b.State.Signal
	}
	if base, ok := f.tasks[b.Task]; ok {
		delete(f.tasks, b.Task)
		f.change(base, func(c *transcript.Call) {
			c.State, c.Outcome = state, b.Task+" "+how
			if !c.Started.IsZero() {
				c.Took = time.UnixMilli(ev.Time).Sub(c.Started)
			}
		})
	}
	f.note(ev, transcript.Note, "%s %s", b.Task, how)
}
