package sim_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/sim"
)

// A model that sleeps and is told of things is killed at every instant, and again while it recovers: each thing is told
// once, whether it happened before, while nobody lived, or after.
func TestAwaitsKilledEverywhere(t *testing.T) {
	w, faults, want := play(t, sim.Awaits(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("without accidents: %q", faults)
	}
	notes := want["main notes"]
	for _, told := range []string{"[await_1] bash_1 printed", "[await_2] bash_2 ended with exit code 4", "[await_3] bash_2 ended", "[await_4] 1 s", "[await_5] bash_3 printed", "[await_7] 2 s"} {
		if strings.Count(notes, told) != 1 {
			t.Fatalf("%q is not among what was told once: %s", told, notes)
		}
	}
	var cfgs []sim.Config
	more := []int{1, 2, 3, 5, 8, 12, 19, 30}
	for n, p := range w.Points() {
		cfgs = append(cfgs, sim.Config{Plan: sim.At(p)})
		if soak() || n%5 == 0 {
			cfgs = append(cfgs, sim.Config{Plan: sim.AtThen(p, more[n/5%8])})
		}
	}
	t.Logf("%d points, %d runs", len(w.Points()), len(cfgs))
	each(t, sim.Awaits, want, cfgs)
}

// Random deaths, and absences in which all that is awaited happens unseen.
func TestAwaitsRandomDeaths(t *testing.T) {
	_, _, want := play(t, sim.Awaits(), sim.Config{})
	var cfgs []sim.Config
	n := uint64(60)
	if soak() {
		n = 2000
	}
	for seed := range n {
		cfgs = append(cfgs, erratic(seed))
	}
	each(t, sim.Awaits, want, cfgs)
}

// The controls: an agent that does not know what it has told, and a disk that loses what it has acknowledged, are found.
func TestAwaitsControlsAreRed(t *testing.T) {
	for want, lie := range map[string]sim.Config{
		"was told 2 times of await_": {TellsAgain: true},
		"is lost":                    {Volatile: 2},
	} {
		w, _, outcome := play(t, sim.Awaits(), sim.Config{})
		var all []string
		for _, p := range w.Points() {
			if p.Name == "append.after" {
				lie.Plan = sim.At(p)
				all = append(all, verdict(t, sim.Awaits, lie, outcome)...)
			}
		}
		if found := strings.Join(all, "\n"); !strings.Contains(found, want) {
			t.Errorf("the harness did not say %q: %.2000s", want, found)
		}
	}
}
