package sim_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/sim"
)

// found plays a chapter with a lie, killed at the points of that name, and collects what the harness says about it.
func found(t *testing.T, chapter int, lie sim.Config, name string) string {
	t.Helper()
	script := sim.Chapters()[chapter]
	w, _, want := play(t, script(), sim.Config{})
	var all []string
	for _, p := range w.Points() {
		if strings.HasPrefix(p.Name, name) && len(all) < 200 {
			cfg := lie
			cfg.Plan = sim.At(p)
			all = append(all, verdict(t, script, cfg, want)...)
		}
	}
	return strings.Join(all, "\n")
}

// A harness that finds nothing proves nothing: each of these broken agents must be found out.
func TestControlsAreRed(t *testing.T) {
	for _, c := range []struct {
		name    string
		chapter int
		lie     sim.Config
		at      string
		want    []string // each must be among the findings
	}{
		{"calls the model before its intent is durable", 1, sim.Config{LateIntent: true}, "model.end", []string{"was sent twice", "is lost"}},
		{"acts outside before its intent is durable", 6, sim.Config{LateIntent: true}, "outside.after", []string{"outside act happened 2 times"}},
		{"a disk that acknowledges without keeping", 0, sim.Config{Volatile: 2}, "append.after", []string{"is lost"}},
		{"a shim that starts when its command is planned", 1, sim.Config{EagerShim: true}, "append.before", []string{"before its intent was on the disk", "runs differs"}},
		{"a restore that begins anew", 10, sim.Config{Rewrites: true}, "restore.write.after", []string{"twice"}},
		{"a shim that does not know what ran", 1, sim.Config{BlindShim: true}, "command.started", []string{"command ran 2 times"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			findings := found(t, c.chapter, c.lie, c.at)
			for _, want := range c.want {
				if !strings.Contains(findings, want) {
					t.Errorf("the harness did not say %q; it said:\n%.2000s", want, findings)
				}
			}
		})
	}
}

// Snapshots are a cache: an agent that loses each of them ends the same.
func TestLostSnapshotsAreHarmless(t *testing.T) {
	if findings := found(t, 4, sim.Config{NoSnapshots: true}, "command.start"); findings != "" {
		t.Error(findings)
	}
}
