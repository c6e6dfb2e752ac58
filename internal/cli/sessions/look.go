package sessions

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// How the parts of a session look on a screen. What a colour says is said in words too.

func heading(a *app.App, name string) { a.Linef("\n%s", a.Styles().Title.Styled(name)) }

// columned prints entries of a section: words in columns as wide as the widest, then a text that is wrapped beside them.
func columned(a *app.App, entries []entry) {
	widths := map[int]int{}
	for i := range entries {
		for c, w := range entries[i].words {
			entries[i].words[c] = display.Shown(w, display.MaxCell)
			widths[c] = max(widths[c], ansi.StringWidth(entries[i].words[c]))
		}
	}
	for _, e := range entries {
		before, width := "  ", 2
		for c, w := range e.words {
			pad := strings.Repeat(" ", widths[c]-ansi.StringWidth(w)+2)
			if c < len(e.styles) {
				w = e.styles[c].Styled(w)
			}
			before += w + pad
			width += widths[c] + 2
		}
		if columns, _ := a.Window(); columns > 0 && columns < 3*width { // beside such words there is no room
			a.Linef("%s", strings.TrimRight(before, " "))
			before, width = "      ", 6
		}
		a.Beside(before, width, display.Line(e.text, 300))
	}
}

// entry is a line of a section: words for its columns, their colours, and a text.
type entry struct {
	words  []string
	styles []ansi.Style
	text   string
}

// standing is the colour of how something stands: a session, a step of the plan, the outcome of a call.
func standing(a *app.App, word string) ansi.Style {
	s := a.Styles()
	switch word, _, _ = strings.Cut(word, " "); word {
	case string(session.OutcomeOK), string(session.StepDone), "running", "running?":
		return s.Good
	case string(session.OutcomeError), string(session.OutcomeDenied), string(session.OutcomeCancelled), string(session.OutcomeUnknown), string(session.StepFailed), "exit", "interrupted":
		return s.Bad
	case "waiting", string(session.StepAwaitingApproval), string(session.StepWaitingExternal), string(session.StepBlocked), "parked":
		return s.Warn
	case string(session.StepExecuting):
		return s.Accent
	}
	return s.Quiet
}

func showPlan(a *app.App, steps []view.Step) {
	if len(steps) == 0 {
		return
	}
	heading(a, "plan")
	var out []entry
	for _, s := range steps {
		out = append(out, entry{words: []string{s.Status}, styles: []ansi.Style{standing(a, s.Status)}, text: s.Content})
	}
	columned(a, out)
}
