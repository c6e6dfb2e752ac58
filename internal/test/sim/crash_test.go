package sim_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/sim"
)

// verdict holds a run against the run without accidents.
func verdict(t *testing.T, script func() *sim.Script, cfg sim.Config, want sim.Outcome) (problems []string) {
	t.Helper()
	w, faults, out := play(t, script(), cfg)
	if diff := want.Diff(out); diff != "" {
		faults = append(faults, diff)
	}
	for _, f := range faults {
		problems = append(problems, fmt.Sprintf("killed at %v: %s", w.Crashes(), f))
	}
	return problems
}

// each tries every plan, spread over parallel subtests, and reports the first problems of each kind.
func each(t *testing.T, script func() *sim.Script, want sim.Outcome, cfgs []sim.Config) {
	const shards = 4
	for shard := range shards {
		t.Run(fmt.Sprintf("shard%d", shard), func(t *testing.T) {
			t.Parallel()
			kinds := map[string]int{}
			for i := shard; i < len(cfgs); i += shards {
				for _, p := range verdict(t, script, cfgs[i], want) {
					_, kind, _ := strings.Cut(p, "]: ")
					kind = kind[:min(len(kind), 60)]
					if kinds[kind]++; kinds[kind] <= 2 {
						t.Error(p)
					}
				}
			}
			if len(kinds) > 0 {
				t.Logf("problems by kind: %v", kinds)
			}
		})
	}
}

// A short script is killed at every point.
func TestShortKilledEverywhere(t *testing.T) {
	w, faults, want := play(t, sim.Short(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("without accidents: %q", faults)
	}
	var cfgs []sim.Config
	for _, p := range w.Points() {
		cfgs = append(cfgs, sim.Config{Plan: sim.At(p)})
	}
	t.Logf("%d points", len(cfgs))
	each(t, sim.Short, want, cfgs)
}

// soak reports whether long runs are asked for.
func soak() bool { return os.Getenv("PERDURE_SOAK") == "1" }

// Every part of the full script is killed at every point.
func TestKilledEverywhere(t *testing.T) {
	total, played := 0, 0
	defer func() { t.Logf("%d points in all", total) }()
	for i, script := range sim.Chapters() {
		t.Run(fmt.Sprintf("chapter%d", i), func(t *testing.T) {
			w, faults, want := play(t, script(), sim.Config{})
			if len(faults) > 0 {
				t.Fatalf("without accidents: %q", faults)
			}
			var cfgs []sim.Config
			for _, p := range w.Points() {
				cfgs = append(cfgs, sim.Config{Plan: sim.At(p)})
			}
			total, played = total+len(cfgs), played+1
			each(t, script, want, cfgs)
		})
	}
	if total < 2000 && played == len(sim.Chapters()) {
		t.Errorf("%d points: want 2,000", total)
	}
}

// A process is killed, and the one that recovers is killed too, at every distance.
func TestKilledWhileRecovering(t *testing.T) {
	for i, script := range sim.Chapters() {
		t.Run(fmt.Sprintf("chapter%d", i), func(t *testing.T) {
			w, _, want := play(t, script(), sim.Config{})
			var cfgs []sim.Config
			for n, p := range w.Points() {
				more := []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 24, 30}
				switch {
				case soak():
					for _, m := range more {
						cfgs = append(cfgs, sim.Config{Plan: sim.AtThen(p, m)})
					}
				case n%7 == 0:
					cfgs = append(cfgs, sim.Config{Plan: sim.AtThen(p, more[n/7%13])})
				}
			}
			each(t, script, want, cfgs)
		})
	}
}

// The whole script is killed at points all over it.
func TestFullKilled(t *testing.T) {
	w, faults, want := play(t, sim.Full(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("without accidents: %q", faults)
	}
	var cfgs []sim.Config
	for n, p := range w.Points() {
		if soak() || n%60 == 0 {
			cfgs = append(cfgs, sim.Config{Plan: sim.At(p)})
		}
	}
	t.Logf("%d of %d points", len(cfgs), len(w.Points()))
	each(t, sim.Full, want, cfgs)
}
