package sim_test

import (
	"testing"

	"github.com/perdure/perdure/internal/test/sim"
)

// Without accidents the files of the keeping script are captured, undone and restored, and every kind of point is met.
func TestKeeping(t *testing.T) {
	w, faults, _ := play(t, sim.Keeping(), sim.Config{})
	if len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	counts := w.Counts()
	for _, name := range []string{"capture.before", "capture.after", "restore.prepare.after", "restore.write.before", "restore.write.after", "restore.end.after", "restore.forget.after"} {
		if counts[name] == 0 {
			t.Errorf("no point %s", name)
		}
	}
	if counts["restore.prepare.before"] != 3 || counts["restore.write.before"] < 6 {
		t.Errorf("counts %v", counts)
	}
}
