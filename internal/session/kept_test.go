package session

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: a file that a session created stays one that it created however often it is changed or read afterwards, and a look
// at a changed file does not turn it into one that was only read.
func TestHowAFileWasUsedStays(t *testing.T) {
	for _, c := range []struct {
		uses []FileUse
		want FileUse
	}{
		{[]FileUse{FileRead}, FileRead},
		{[]FileUse{FileCreated, FileModified}, FileCreated},
		{[]FileUse{FileCreated, FileRead}, FileCreated},
		{[]FileUse{FileModified, FileRead}, FileModified},
		{[]FileUse{FileRead, FileModified}, FileModified},
		{[]FileUse{FileModified}, FileModified},
	} {
		s := &State{}
		for i, use := range c.uses {
			(&FileSeen{File: File{Path: "/w/a", Use: use}}).apply(s, store.Event{Seq: int64(i + 1)})
		}
		if got := s.Files["/w/a"].Use; got != c.want {
			t.Errorf("used as %v it is %q, want %q", c.uses, got, c.want)
		}
	}
}

// Goal: a plan is taken exactly if each of its steps can be kept, and the refusal names the step.
func TestCheckPlanNamesTheStep(t *testing.T) {
	good := Step{Content: "look", Status: StepPlanned}
	if err := CheckPlan([]Step{good, good}); err != nil {
		t.Errorf("a plain plan: %v", err)
	}
	for name, bad := range map[string]Step{
		"empty": {Status: StepPlanned}, "status": {Content: "x", Status: "lost"}, "long": {Content: strings.Repeat("x", MaxPlanText+1), Status: StepPlanned},
	} {
		if err := CheckPlan([]Step{good, bad}); err == nil || !strings.Contains(err.Error(), "step 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Goal: a step that was taken out is named by its number in the old plan, one that changed by both of its numbers.
func TestDiffPlanNumbersFromOne(t *testing.T) {
	old := []Step{{Content: "first", Status: StepDone}, {Content: "second", Status: StepPlanned}, {Content: "third", Status: StepPlanned}}
	now := []Step{old[0], {Content: "third", Status: StepDone}}
	removed, changed := 0, [2]int{}
	for _, c := range DiffPlan(old, now) {
		switch c.Kind {
		case StepRemoved:
			removed = c.Was
		case StepChanged:
			changed = [2]int{c.Was, c.N}
		case StepAdded, StepMoved:
			t.Errorf("%+v", c)
		}
	}
	if removed != 2 || changed != [2]int{3, 2} {
		t.Errorf("removed %d, changed %v", removed, changed)
	}
}

// Goal: what the model was told of a restore is shown with its event.
func TestWhatARestoreToldIsShown(t *testing.T) {
	m := map[string]any{}
	(&FilesRestored{Text: []byte("three files are back")}).show(m)
	if m["text"] != "three files are back" {
		t.Errorf("%v", m)
	}
	clear(m)
	if (&FilesRestored{}).show(m); len(m) > 0 {
		t.Errorf("nothing was told, and is shown as %v", m)
	}
}

// Goal: the line of a step says what is known of it, and nothing about what is not.
func TestLineOfAStepSaysWhatIsKnown(t *testing.T) {
	for want, s := range map[string]Step{
		"[planned] look":                            {Content: "look", Status: StepPlanned},
		"[done] look; output: a.go":                 {Content: "look", Status: StepDone, Output: "a.go"},
		"[planned] look; blocked by: b; because: c": {Content: "look", Status: StepPlanned, Blocker: "b", Reason: "c"},
	} {
		if got := s.Line(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
