package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
)

// The target of the state file: what a change of the plan costs with it to what it costs without.
const maxStateFile = 2.0

// Goal: a state file that is written at each change of the plan costs no more than the change itself.
func TestStateFileFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	const changes, rounds = 40, 5
	dir := project(t)
	all := looks(0)
	for i := range changes {
		var todos []string
		for n := range 20 {
			status := "pending"
			if n < i%20 {
				status = "completed"
			}
			todos = append(todos, fmt.Sprintf(`{"content": "step %d of what is to be done here", "status": %q}`, n, status))
		}
		all = append(all, calls("TodoWrite", `{"todos": [`+strings.Join(todos, ",")+`]}`, "I change the plan."))
	}
	var with, without []time.Duration
	var ratios []float64
	bare, b := working(t, homes.Config{}, says("first", all...))
	kept, k := working(t, homes.Config{Memory: homes.MemoryInHome}, says("first", all...))
	bareID, keptID := worker(t, bare, dir, 60_000), worker(t, kept, dir, 60_000)
	for range rounds { // in turn
		goOn(t, bare, b, bareID, "first")
		goOn(t, kept, k, keptID, "first")
		x, y := median(k.steps[:changes]), median(b.steps[:changes])
		with, without, ratios = append(with, x), append(without, y), append(ratios, float64(x)/float64(y))
	}
	t.Logf("%s: a change of the plan with a state file %v, without %v; ratio %.2f (%.2f)", load(), median(with), median(without), median(ratios), ratios)
	if median(ratios) > maxStateFile {
		t.Errorf("target: %.1f", maxStateFile)
	}
}
