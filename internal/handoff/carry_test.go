package handoff

import (
	"fmt"
	"strings"
	"testing"
)

// Goal: in a chain of sessions without words, the first goal and the newest request stay, and what failed does.
func TestCarryKeepsTheFirstGoalAndTheNewestRequest(t *testing.T) {
	d := Document{Goal: "migrate the API", FailedApproaches: []string{"patching - refunds fail"}, NextStep: "map the fields"}
	for i := range 20 {
		d = Document{Goal: fmt.Sprintf("question %d", i), FailedApproaches: []string{fmt.Sprintf("way %d", i%2)}}.Carry(d)
	}
	if d.Goal != "migrate the API Then asked: question 19" || d.NextStep != "map the fields" {
		t.Errorf("goal %q, next %q", d.Goal, d.NextStep)
	}
	long := Document{Goal: "new"}.Carry(Document{Goal: strings.Repeat("long words ", 100)})
	if len(long.Goal) > maxCarried+50 || !strings.HasSuffix(long.Goal, "Then asked: new") {
		t.Errorf("goal %q", long.Goal)
	}
}
