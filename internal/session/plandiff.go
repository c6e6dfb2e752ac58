package session

import (
	"fmt"
	"strings"
)

// StepChange is one difference between two plans. Numbers are from 1; 0: it is not in that plan.
type StepChange struct {
	Kind   string `json:"kind"` // added, removed, changed, moved
	Was    int    `json:"was,omitzero"`
	N      int    `json:"n,omitzero"`
	Before *Step  `json:"before,omitempty"`
	After  *Step  `json:"after,omitempty"`
}

// The kinds of a difference between plans.
const (
	StepAdded   = "added"
	StepRemoved = "removed"
	StepChanged = "changed"
	StepMoved   = "moved"
)

// MatchSteps finds for each step of a plan the one of an older plan that it goes on: the one of the same words, else, if
// both are without a partner, the one of the same number. -1: there is none.
func MatchSteps(old, now []Step) []int {
	out, taken := make([]int, len(now)), make([]bool, len(old))
	places := map[string][]int{}
	for i, s := range old {
		places[s.Content] = append(places[s.Content], i)
	}
	for i, s := range now {
		out[i] = -1
		if same := places[s.Content]; len(same) > 0 {
			out[i], places[s.Content], taken[same[0]] = same[0], same[1:], true
		}
	}
	for i := range now {
		if out[i] < 0 && i < len(old) && !taken[i] {
			out[i], taken[i] = i, true
		}
	}
	return out
}

// DiffPlan lists what makes one plan of another: first what is in the new one, by its order, then what was removed.
func DiffPlan(old, now []Step) []StepChange {
	var out []StepChange
	kept, highest := make([]bool, len(old)), -1
	for i, from := range MatchSteps(old, now) {
		after := now[i]
		if from < 0 {
			out = append(out, StepChange{Kind: StepAdded, N: i + 1, After: &after})
			continue
		}
		kept[from] = true
		before := old[from]
		change := StepChange{Kind: StepChanged, Was: from + 1, N: i + 1, Before: &before, After: &after}
		if before == after {
			change.Kind = StepMoved
		}
		if before != after || from < highest {
			out = append(out, change)
		}
		highest = max(highest, from)
	}
	for i := range old {
		if before := old[i]; !kept[i] {
			out = append(out, StepChange{Kind: StepRemoved, Was: i + 1, Before: &before})
		}
	}
	return out
}

// maxPlanWords bounds what the model is told of a plan that a person changed, in bytes.
const maxPlanWords = 16 << 10

// PlanWords are what the model is told of a person's change: what was changed, and the plan as it is now.
func PlanWords(old []Step, b *PlanEdited) []byte {
	var words []string
	for _, c := range DiffPlan(old, b.Steps) {
		words = append(words, "- "+c.String())
	}
	for _, f := range b.Facts {
		words = append(words, "- noted "+strings.ReplaceAll(f.Kind, "_", " ")+": "+oneLine(f.String()))
	}
	head := "[The user changed the plan of this session. It replaces what you last set; go on from it.\n" + strings.Join(words, "\n")
	text := head + "\nThe plan now:\n" + PlanText(b.Steps)
	if len(b.Steps) == 0 {
		text = head + "\nThe plan is empty now."
	}
	return []byte(CutMiddle(text, maxPlanWords) + "]")
}

// String is the difference in one line.
func (c StepChange) String() string {
	switch c.Kind {
	case StepAdded:
		return fmt.Sprintf("added step %d: %s", c.N, c.After.Line())
	case StepRemoved:
		return fmt.Sprintf("removed: %s", c.Before.Line())
	case StepMoved:
		return fmt.Sprintf("step %d is step %d now: %s", c.Was, c.N, oneLine(c.After.Content))
	}
	return fmt.Sprintf("step %d: %s (it was: %s)", c.N, c.After.Line(), c.Before.Line())
}

// Line is a step in one line: its status, what is to be done, and what is said about it.
func (s Step) Line() string {
	line := fmt.Sprintf("[%s] %s", s.Status, oneLine(s.Content))
	for _, more := range []struct{ name, text string }{{"output", s.Output}, {"blocked by", s.Blocker}, {"because", s.Reason}} {
		if more.text != "" {
			line += "; " + more.name + ": " + oneLine(more.text)
		}
	}
	return line
}

// PlanText is a plan as the model reads it, one numbered line for each step.
func PlanText(steps []Step) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, s.Line())
	}
	return strings.Join(lines, "\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
