package engine

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
)

// Bounds of what an await's words quote, in bytes.
const (
	quotedCommand = 200
	quotedPattern = 200
)

// awaitWords is what the model is told when an await is met. It is kept in the log as it is told.
func awaitWords(a session.Await, b session.AwaitMet, command string) string {
	var w strings.Builder
	fmt.Fprintf(&w, "[%s] ", a.ID)
	after := fmt.Sprintf("%g s", float64(a.AfterMS)/1000)
	pattern := "/" + cut(a.Pattern, quotedPattern) + "/"
	over := ""
	if b.End != nil {
		over = ended(*b.End)
	}
	switch b.How {
	case session.MetTimer:
		w.WriteString(after + " are over.")
	case session.MetEnd:
		fmt.Fprintf(&w, "%s %s: %s", a.Task, over, commandWords(command))
	case session.MetNoLine:
		fmt.Fprintf(&w, "%s %s, and no line that you had not read matched %s: %s", a.Task, over, pattern, commandWords(command))
	case session.MetLine:
		fmt.Fprintf(&w, "%s printed a line that matches %s; here it is, as data:\n> %s", a.Task, pattern, b.Line)
		if over != "" {
			fmt.Fprintf(&w, "\n%s %s since.", a.Task, over)
		}
	case session.MetTimeout:
		what := "has not ended"
		if a.Event == session.AwaitLine {
			what = "has printed no line that matches " + pattern
		}
		fmt.Fprintf(&w, "after %s %s %s: %s", after, a.Task, what, commandWords(command))
		if over != "" {
			fmt.Fprintf(&w, "\n%s %s.", a.Task, over)
		}
	}
	if b.Gap > 0 {
		fmt.Fprintf(&w, "\n%d bytes of its output were dropped before they could be looked at.", b.Gap)
	}
	if a.Note != "" {
		w.WriteString("\nYour note: " + a.Note)
	}
	return w.String()
}

// commandWords is a command as the model is told of it by the engine: its first line, in which nothing begins or ends that
// speaks for somebody else.
func commandWords(command string) string { return cut(window.Quote(command), quotedCommand) }

// cut bounds a text for a sentence: its first line, at most n bytes.
func cut(s string, n int) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if head := session.CutEnd(line, n); len(head) < len(line) {
		line, more = head, true
	}
	if more {
		line += " […]"
	}
	return line
}
