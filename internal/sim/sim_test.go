package sim_test

import (
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/sim"
)

// play runs a script in a world of its own.
func play(t *testing.T, script *sim.Script, cfg sim.Config) (w *sim.World, faults []string, out sim.Outcome) {
	synctest.Test(t, func(t *testing.T) {
		w = sim.New(script, cfg)
		w.Run(t.Context())
		faults, out = w.Check(), w.Outcome()
	})
	return w, faults, out
}

// The short script ends well without accidents.
func TestShort(t *testing.T) {
	w, faults, out := play(t, sim.Short(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	t.Log(w.Counts(), out["main conversation"])
}

// The full script ends well without accidents.
func TestFull(t *testing.T) {
	w, faults, out := play(t, sim.Full(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	t.Log(w.Counts(), out["main conversation"])
}
