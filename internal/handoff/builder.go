package handoff

import (
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// CallFailed begins what is said of a failed tool call that nobody found words for.
const CallFailed = "A tool call failed: "

// builder gathers the lists.
type builder struct {
	known
	done, not, failed, constraints, decisions, inProgress, found listing
}

// plan takes the plan's steps, each where it belongs.
func (b *builder) plan(st *session.State) {
	for _, s := range st.Plan {
		why := s.Blocker
		if s.Reason != "" && why != "" {
			why += ": "
		}
		why += s.Reason
		line := s.Content
		if s.Output != "" {
			line += " (" + s.Output + ")"
		}
		because := line
		if why != "" {
			because += " - " + why
		}
		line, because = b.absolute(oneLine(line)), b.absolute(oneLine(because))
		switch {
		case s.Status == session.StepDone:
			b.done.add(line)
		case s.Status == stepFailed:
			b.failed.add(because)
		case s.Status == stepBlocked || s.Blocker != "":
			b.not.add(because)
		case s.Status == session.StepExecuting:
			b.inProgress.add(because)
		}
	}
}

// facts takes the session's facts, the newest first; where one comes from is said when it is not the user or the model.
func (b *builder) facts(st *session.State) {
	for _, f := range slices.Backward(st.Facts) {
		line := f.Text
		if f.Reason != "" {
			line += " - " + f.Reason
		}
		if f.Provenance == "tool" || f.Provenance == "import" {
			line += " (from " + f.Provenance + ", unchecked)"
		}
		line = b.absolute(oneLine(line))
		switch f.Kind {
		case "failed_approach":
			b.failed.add(line)
		case "decision":
			b.decisions.add(line)
		case "constraint":
			b.constraints.add(constraintLabel + line)
		default:
			b.found.add(line)
		}
	}
}

// words adds what a model wrote.
func (b *builder) words(w Words) {
	for _, s := range []struct {
		to   *listing
		from []string
	}{
		{&b.done, w.Done},
		{&b.not, w.NotWorking},
		{&b.failed, w.FailedApproaches},
		{&b.decisions, w.Decisions},
		{&b.inProgress, w.InProgress},
		{&b.found, w.Found},
	} {
		for _, line := range s.from {
			s.to.add(b.absolute(oneLine(line)))
		}
	}
}

// constraintLabel stands before a constraint among the decisions.
const constraintLabel = "Constraint: "

// before takes over what the handoff before says must not be done.
func (b *builder) before(d Document) {
	b.failed.add(d.FailedApproaches[:min(len(d.FailedApproaches), maxBefore)]...)
	n := 0
	for _, line := range d.Decisions {
		if n++; strings.HasPrefix(line, constraintLabel) && n <= maxBefore {
			b.constraints.add(line)
		}
	}
}

// failures adds the real messages: of the turn that ended otherwise than well, and of tool calls, the newest first.
func (b *builder) failures(in Input) {
	if end := in.State.LastTurn; end != nil && !ended(end.Stop) {
		line := "The last turn ended with " + end.Stop
		if end.Message != "" {
			line += ": " + errorLine(end.Message)
		}
		b.not.add(b.absolute(line))
	}
	n := 0
	for _, e := range slices.Backward(in.Errors) {
		line := errorLine(e)
		if line == "" || b.not.said(line) {
			continue
		}
		b.not.add(CallFailed + b.absolute(line))
		if n++; n >= maxErrors {
			break
		}
	}
}
