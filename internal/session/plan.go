package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/store"
)

// Step is one entry of the plan.
type Step struct {
	Content    string     `json:"content"`
	ActiveForm string     `json:"active_form,omitempty"`
	Status     StepStatus `json:"status"`
	Blocker    string     `json:"blocker,omitempty"` // what it waits for
	Reason     string     `json:"reason,omitempty"`  // why it stands so
	Output     string     `json:"output,omitempty"`  // what came of it
}

// StepStatus is where a plan's step stands.
type StepStatus string

// The states of a plan's step; a todo's pending, in_progress and completed are planned, executing and done.
const (
	StepPlanned          StepStatus = "planned"
	StepAwaitingApproval StepStatus = "awaiting_approval"
	StepExecuting        StepStatus = "executing"
	StepWaitingExternal  StepStatus = "waiting_external"
	StepDone             StepStatus = "done"
	StepFailed           StepStatus = "failed"
	StepBlocked          StepStatus = "blocked"
)

// StepStatuses are all states of a step, in the order of its life.
func StepStatuses() []StepStatus {
	return []StepStatus{
		StepPlanned, StepAwaitingApproval, StepExecuting, StepWaitingExternal, StepDone, StepFailed, StepBlocked,
	}
}

// ParseStepStatus reads a state by its own word or by one that is common for it, whatever its case: pending, todo,
// in_progress, completed. Dashes and blanks stand for underscores.
func ParseStepStatus(word string) (StepStatus, bool) {
	word = strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
	for _, s := range StepStatuses() {
		if word == string(s) {
			return s, true
		}
	}
	switch word {
	case "pending", "todo", "open", "not_started":
		return StepPlanned, true
	case "in_progress", "doing", "running", "active", "started":
		return StepExecuting, true
	case "completed", "complete", "finished":
		return StepDone, true
	}
	return "", false
}

// Bounds of a plan. Tools and inboxes refuse what is over them.
const (
	MaxPlanSteps = 200
	MaxPlanText  = 2000 // bytes of each text of a step
)

// CheckPlan says why a plan cannot be kept.
func CheckPlan(steps []Step) error {
	if len(steps) > MaxPlanSteps {
		return fmt.Errorf("the plan has %d steps, at most %d are allowed", len(steps), MaxPlanSteps)
	}
	for i, s := range steps {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check() error {
	if strings.TrimSpace(s.Content) == "" {
		return fmt.Errorf("it says nothing")
	}
	if own, ok := ParseStepStatus(string(s.Status)); !ok || own != s.Status {
		return fmt.Errorf("there is no status %q", s.Status)
	}
	for _, text := range []string{s.Content, s.ActiveForm, s.Blocker, s.Reason, s.Output} {
		switch {
		case len(text) > MaxPlanText:
			return fmt.Errorf("a text has %d bytes, at most %d are allowed", len(text), MaxPlanText)
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
			return fmt.Errorf("what it says is no text")
		}
	}
	return nil
}

// PlanChanged is why a change of a plan is refused that was made for another one. Whoever made it looks again.
const PlanChanged = "the plan changed since it was shown"

// PlanDigest names a plan as it is. Who changes a plan says by it which one was looked at.
func PlanDigest(steps []Step) store.Digest {
	b, err := json.Marshal(append([]Step{}, steps...))
	if err != nil {
		return store.Digest{} // text always encodes; no plan has this digest
	}
	return store.Sum(b)
}

// PlanSet replaces the plan.
type PlanSet struct {
	headOnly
	Steps []Step `json:"steps"`
}

func (b *PlanSet) summary() string { return things(len(b.Steps), "step") }

func (b *PlanSet) apply(s *State, _ store.Event) { s.Plan = b.Steps }

// PlanEdited is a person's change of the plan, and what that person noted with it. It is at the same time the words that
// the model is told it by, in its next request: it is told once, and starts no turn.
type PlanEdited struct {
	Over  store.Digest `json:"over"` // of the plan that was looked at; the holder refuses the change of another one
	Steps []Step       `json:"steps"`
	Facts []Fact       `json:"facts,omitempty"`
	From  string       `json:"from,omitempty"` // the file that it was accepted from; empty: a command
	Text  []byte       `json:"-"`              // what the model is told; set by the holder
}

func (b *PlanEdited) summary() string {
	return strings.TrimSpace(things(len(b.Steps), "step") + "  " + b.From)
}

func (b *PlanEdited) show(m map[string]any) { viewText(m, "text", b.Text) }

func (b *PlanEdited) parts() []*[]byte { return []*[]byte{&b.Text} }

func (b *PlanEdited) apply(s *State, e store.Event) {
	s.Plan = b.Steps
	for _, f := range b.Facts {
		f.Provenance = "user"
		(&FactAdded{Fact: f}).apply(s, e)
	}
	s.Context.Fresh += int64(len(b.Text))
}
