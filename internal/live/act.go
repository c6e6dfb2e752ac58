package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Widths, in cells: of the column of tools' names, and what an outcome gets at least; in less it goes below.
const (
	nameWidth = 10
	least     = 20
)

// act shows what becomes of a tool call: its line begins when it starts and gets its outcome when it has one.
func (v *View) act(ev store.Event, body session.Body) {
	switch b := body.(type) {
	case *session.ToolStarted:
		v.begin(b.Act)
	case *session.ToolDetached:
		v.outcome(b.Act, cyan, "goes on in the background as "+b.Task)
	case *session.ToolVoid:
		v.outcome(b.Act, dim, "nothing came of it: "+b.Reason)
	case *session.ToolUnknown:
		if b.Asks != nil {
			v.outcome(b.Act, yellow, "outcome unknown: waits for your answer")
			break
		}
		v.outcome(b.Act, red, "outcome unknown: "+b.Reason)
	case *session.ToolFinished:
		v.finished(ev, b)
	case *session.ApprovalRequested:
		v.outcome(b.Act, yellow, "waits for your approval")
	case *session.QuestionAsked:
		v.outcome(b.Act, yellow, "waits for your answer")
	case *session.TaskExited:
		text := string(b.State.Status)
		if b.State.ExitCode != nil {
			text = fmt.Sprintf("exited %d", *b.State.ExitCode)
		}
		v.line(v.row(b.Task, "") + v.paint(dim, text))
	default:
	}
}

// row begins a line of its own: a name in its column, and what it is about, cut to three fifths of the rest of the line,
// or less where the outcome needs it.
func (v *View) row(name, what string) string {
	name = plain.Shown(name, 40)
	pad := strings.Repeat(" ", max(1, nameWidth+1-ansi.StringWidth(name)))
	if v.cfg.Dir != "" {
		what = strings.ReplaceAll(what, v.cfg.Dir+"/", "")
	}
	room := v.width() - nameWidth - len("   ")
	what = v.fit(plain.Shown(what, 1000), max(min(room*3/5, room-len(" > ")-least), room/3))
	return "  " + v.paint(cyan, name) + pad + what
}

// begin writes a call's line as far as it is known.
func (v *View) begin(act string) {
	c := v.calls.Of(act)
	row := v.row(c.Tool, c.What)
	v.Rest()
	v.write(row)
	v.mid, v.open, v.col, v.spoke = true, session.BaseOf(act), ansi.StringWidth(row), true
}

// outcome writes the end of a call's line, if the cursor is still there, else a line with both.
func (v *View) outcome(act, colour, text string) {
	if v.open == "" || v.open != session.BaseOf(act) {
		v.begin(act)
	}
	arrow := " → "
	if c := v.calls.Of(act); c.What == "" {
		arrow = ""
	}
	room := v.width() - v.col - ansi.StringWidth(arrow)
	if room < least && ansi.StringWidth(text) > room {
		v.write("\n" + strings.Repeat(" ", nameWidth+3))
		arrow, room = "", v.width()-nameWidth-3
	}
	v.write(arrow + v.paint(colour, v.fit(plain.Line(text, 1000), room)))
	v.Rest()
}

func (v *View) finished(ev store.Event, b *session.ToolFinished) {
	lines := Result(b.Content, 1<<20)
	text, colour := lines[0], dim
	switch {
	case b.ExitCode != nil && *b.ExitCode != 0:
		lines = lines[:max(1, len(lines)-1)] // the last one says the code again
		text, colour = fmt.Sprintf("exit code %d: %s", *b.ExitCode, text), red
	case b.Outcome != session.OutcomeOK:
		text, colour = string(b.Outcome)+": "+text, red
	}
	if len(lines) > 1 {
		text = fmt.Sprintf("%d lines: %s", len(lines), text)
	}
	if c := v.calls.Of(b.Act); c.Started > 0 {
		if took := time.Duration(ev.Time-c.Started) * time.Millisecond; took >= time.Second {
			text = fmt.Sprintf("%s, %s", plain.Span(took), text)
		}
	}
	if b.Collected {
		text = "of the command that was interrupted: " + text
	}
	v.outcome(b.Act, colour, text)
}
