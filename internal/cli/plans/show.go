package plans

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
	"github.com/perdure/perdure/view"
)

// overview is what perdure plan --json prints.
type overview struct {
	Session     string            `json:"session"`
	Task        string            `json:"task"`
	Status      string            `json:"status"`
	Seq         int64             `json:"seq"`
	Updated     view.Stamp        `json:"updated_at"`
	Plan        []session.Step    `json:"plan"`
	Failed      []session.Fact    `json:"failed_approaches"`
	Constraints []session.Fact    `json:"constraints"`
	Decisions   []session.Fact    `json:"decisions"`
	Findings    []session.Fact    `json:"findings"`
	Effects     []workflow.Effect `json:"side_effects"`
	// Before counts older acts that the state no longer names; the log has them.
	Before int64  `json:"side_effects_before,omitempty"`
	File   string `json:"file,omitempty"` // what is to be said of the state file
}

func overviewOf(st *session.State) overview {
	d := workflow.New(st)
	o := overview{
		Session: st.ID, Task: d.Task, Status: d.Status, Seq: st.Head.Seq, Updated: view.Stamp(st.Updated), Plan: append([]session.Step{}, st.Plan...),
		Failed: []session.Fact{}, Constraints: []session.Fact{}, Decisions: []session.Fact{}, Findings: []session.Fact{},
		Effects: append([]workflow.Effect{}, d.Effects...), Before: st.Dropped.Settled + st.Dropped.Tasks,
	}
	for _, f := range st.Facts {
		to := &o.Findings
		switch f.Kind {
		case "failed_approach":
			to = &o.Failed
		case "constraint":
			to = &o.Constraints
		case "decision":
			to = &o.Decisions
		}
		*to = append(*to, f)
	}
	return o
}

// line prints one line. What others wrote in it shows as text.
func line(a *app.App, format string, args ...any) {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = display.Shown(s, 400)
		}
	}
	a.Linef("%s", strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// shownEffects bounds the side effects that show prints; --json has all that the state has.
const shownEffects = 30

func show(a *app.App, st *session.State, o overview) {
	line(a, "%s  %s", o.Session, o.Task)
	done := 0
	for _, s := range o.Plan {
		if s.Status == session.StepDone {
			done++
		}
	}
	if len(o.Plan) == 0 {
		a.Linef("no plan")
	} else {
		line(a, "%s, %d of %s done, as of %s", o.Status, done, display.Count(int64(len(o.Plan)), "step"), a.When(int64(o.Updated)))
	}
	for i, s := range o.Plan {
		if i == 0 {
			a.Linef("")
		}
		step(a, i+1, s)
	}
	facts(a, "failed approaches", o.Failed)
	facts(a, "constraints", o.Constraints)
	facts(a, "decisions", o.Decisions)
	facts(a, "findings", o.Findings)
	effects(a, o)
	if o.File != "" {
		a.Note("%s", o.File)
	}
}

func step(a *app.App, n int, s session.Step) {
	line(a, "%3d  %-17s  %s", n, string(s.Status), s.Content)
	for _, more := range []struct{ name, text string }{{"output", s.Output}, {"blocked by", s.Blocker}, {"because", s.Reason}} {
		if more.text != "" {
			line(a, "                        %s: %s", more.name, more.text)
		}
	}
}

func facts(a *app.App, name string, list []session.Fact) {
	if len(list) > 0 {
		a.Linef("\n%s", name)
	}
	for _, f := range list {
		line(a, "  - %s  [%s, event %d]", f.String(), f.Provenance, f.Seq)
	}
}

func effects(a *app.App, o overview) {
	if len(o.Effects) == 0 {
		return
	}
	a.Linef("\nside effects")
	list := o.Effects[max(0, len(o.Effects)-shownEffects):]
	if before := o.Before + int64(len(o.Effects)-len(list)); before > 0 {
		a.Linef("  … %s before: perdure log %s", display.Grouped(before), o.Session)
	}
	for _, e := range list {
		what := strings.ReplaceAll(e.Class, "_", " ")
		line(a, "  %s  %s  %s  %s", e.ID, what, e.Status, e.About)
		line(a, "      safe to repeat: %s; after a restart: %s", safe(e), e.Restart)
	}
}

// safe words whether an effect may be repeated.
func safe(e workflow.Effect) string {
	word := "unknown"
	if e.Safe != nil {
		word = map[bool]string{true: "yes", false: "no"}[*e.Safe]
	}
	return word + ", " + e.Repeat
}
