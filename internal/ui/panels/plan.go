package panels

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Step is one entry of a plan.
type Step struct {
	Text   string
	Active string // what it is called while it is done; may be empty
	// Status is planned, awaiting_approval, executing, waiting_external, done, failed or blocked.
	Status  string
	Blocker string // what it waits for
	Reason  string // why it stands so
	Output  string // what came of it
}

// Fact is a lasting statement of a session.
type Fact struct {
	Kind   string // such as constraint, decision, failed_approach
	Text   string
	Reason string // may be empty
	From   string // where it comes from; may be empty
}

// Plan is what a session means to do and what it noted.
type Plan struct {
	Steps []Step
	Facts []Fact
}

// PlanSource says how the plan stands. It may block, and is called from other goroutines.
type PlanSource interface {
	Plan(ctx context.Context) (Plan, error)
}

// NewPlan is the page of the plan.
func NewPlan(cfg Config, src PlanSource) *Page {
	p := &Page{cfg: cfg, title: "Plan", opens: "whole"}
	p.load = func(ctx context.Context) (filled, error) {
		plan, err := src.Plan(ctx)
		if err != nil {
			return filled{}, err
		}
		return planRows(cfg.Styles, plan), nil
	}
	return p
}

func planRows(s theme.Styles, plan Plan) filled {
	f := filled{none: "no plan and no notes yet"}
	done := 0
	for i, step := range plan.Steps {
		if step.Status == "done" {
			done++
		}
		f.rows = append(f.rows, stepRow(s, i+1, step))
	}
	if n := len(plan.Steps); n > 0 {
		f.sum = fmt.Sprintf("%d of %d done", done, n)
	}
	if len(plan.Facts) > 0 {
		if len(f.rows) > 0 {
			f.rows = append(f.rows, blank())
		}
		f.rows = append(f.rows, heading(s, "Notes"))
	}
	for i, fact := range plan.Facts {
		f.rows = append(f.rows, factRow(s, i+1, fact))
	}
	return f
}

// sign is how a status looks: a sign, its colour, and a word.
func sign(s theme.Styles, status string) (mark string, look ansi.Style, word string) {
	word = strings.ReplaceAll(plain.Shown(status, 24), "_", " ")
	switch status {
	case "done":
		return "✓", s.Good, word
	case "executing":
		return "●", s.Accent, "doing it"
	case "failed":
		return "✗", s.Bad, word
	case "blocked":
		return "■", s.Warn, word
	case "awaiting_approval":
		return "?", s.Warn, "needs approval"
	case "waiting_external":
		return "◌", s.Warn, "waits"
	}
	return "○", s.Quiet, word
}

func stepRow(s theme.Styles, n int, step Step) row {
	mark, look, word := sign(s, step.Status)
	text := step.Text
	if step.Active != "" && step.Status == "executing" {
		text = step.Active
	}
	why := step.Reason
	switch {
	case step.Blocker != "":
		why = "waits for " + step.Blocker
	case step.Status == "done" && step.Output != "":
		why = step.Output
	}
	draw := func(width int) string {
		line := look.Styled(mark) + " " + plain.Shown(text, 500)
		if why != "" {
			line += s.Quiet.Styled(" · " + plain.Shown(why, 200))
		}
		const forWord = 50 // cells from which on the word is there too
		if width < forWord {
			return theme.Cut(line, width)
		}
		return side(line, look.Styled(word), width)
	}
	whole := step.Text + "\n\n" + word
	for _, more := range []struct{ name, text string }{{"Waits for", step.Blocker}, {"Why", step.Reason}, {"Came of it", step.Output}} {
		if more.text != "" {
			whole += "\n\n" + more.name + ": " + more.text
		}
	}
	return row{key: fmt.Sprintf("step %d", n), find: whole + " " + step.Active, draw: draw, text: words(whole)}
}

func factRow(s theme.Styles, n int, fact Fact) row {
	kind := strings.ReplaceAll(plain.Shown(fact.Kind, 24), "_", " ")
	whole := kind + "\n\n" + fact.Text
	if fact.Reason != "" {
		whole += "\n\nWhy: " + fact.Reason
	}
	if fact.From != "" {
		whole += "\n\nFrom: " + fact.From
	}
	draw := func(width int) string {
		line := s.Quiet.Styled(kind) + "  " + plain.Shown(fact.Text, 500)
		if fact.Reason != "" {
			line += s.Quiet.Styled(" · " + plain.Shown(fact.Reason, 200))
		}
		return theme.Cut(line, width)
	}
	return row{key: fmt.Sprintf("note %d", n), find: whole, draw: draw, text: words(whole)}
}
