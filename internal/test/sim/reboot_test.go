package sim_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/sim"
)

// Goal: a person's task, the reboot that takes it, its restart by policy and its kill come to the same whatever instant
// the agent dies at: it runs once before and once after the reboot, and is told of as often.
func TestRebootedKilledEverywhere(t *testing.T) {
	w, faults, want := play(t, sim.Rebooted(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("without accidents: %q", faults)
	}
	all := want["runs"] + want["main tasks"] + want["main notes"]
	for _, words := range []string{
		`"main task.bash_1: run service":2`, `"status":"killed"`, `"status":"lost"`, `"reason":"reboot"`,
		"bash_1 runs again after the reboot", "bash_2 is lost (reboot)", "> helping",
	} {
		if !strings.Contains(all, words) {
			t.Errorf("the uninterrupted run lacks %q:\n%s", words, all)
		}
	}
	var cfgs []sim.Config
	for _, p := range w.Points() {
		cfgs = append(cfgs, sim.Config{Plan: sim.At(p)})
	}
	t.Logf("%d points", len(cfgs))
	each(t, sim.Rebooted, want, cfgs)
}

// Goal: the machine may restart at any instant, too. What it takes differs from run to run; what must hold does not:
// nothing runs twice that must not, nothing acknowledged is lost, every act has one end.
func TestRebootedEverywhere(t *testing.T) {
	for name, script := range map[string]func() *sim.Script{"short": sim.Short, "rebooted": sim.Rebooted} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, faults, _ := play(t, script(), sim.Config{})
			if len(faults) > 0 {
				t.Fatalf("without accidents: %q", faults)
			}
			for _, p := range w.Points() {
				w, faults, _ := play(t, script(), sim.Config{Plan: sim.At(p), Reboots: true})
				for _, f := range faults {
					t.Errorf("restarted at %v: %s", w.Crashes(), f)
				}
			}
		})
	}
}
