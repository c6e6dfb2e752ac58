package sim_test

import (
	"testing"

	"github.com/perdure/perdure/internal/test/sim"
)

// Without accidents the crowded script is compacted several times, by the model and by rule, and ends well.
func TestCrowded(t *testing.T) {
	w, faults, _ := play(t, sim.Crowded(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	if by := w.Compactions("main"); by["model"] < 1 || by["rule"] < 1 || by["model"]+by["rule"] < 3 {
		t.Errorf("compactions: %v", by)
	}
}
