package sim_test

import (
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/test/sim"
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

// Without accidents the full script ends well, twice the same, and meets every kind of point.
func TestFull(t *testing.T) {
	w, faults, out := play(t, sim.Full(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	_, _, again := play(t, sim.Full(), sim.Config{})
	if diff := out.Diff(again); diff != "" {
		t.Errorf("a second run of the same script: %s", diff)
	}
	counts := w.Counts()
	for _, name := range []string{
		"append.before", "append.after", "create.before", "acquire.after", "release.after", "snapshot.after", "read", "load", "send.before", "send.after",
		"model.start", "model.mid", "model.end", "outside.before", "outside.after",
		"file.read", "file.digest", "file.list", "file.replace.before", "file.replace.after",
		"command.prepare.after", "command.start.before", "command.start.after", "command.started", "command.state",
		"command.wait.before", "command.wait.after", "command.kill.before", "command.kill.after", "command.read", "command.remove.before",
	} {
		if counts[name] == 0 {
			t.Errorf("no point %s in the full script", name)
		}
	}
	steps := counts["model.end"]
	t.Logf("%d sealed replies, %d points", steps, len(w.Points()))
	if steps < 60 {
		t.Errorf("the full script has %d steps: want 60", steps)
	}
}
