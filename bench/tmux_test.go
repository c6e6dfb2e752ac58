package bench

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// minTmuxRatio is how many times as fast as in a window of tmux output has to flow through the shim.
const minTmuxRatio = 10

// People keep commands alive in tmux, which draws what they print. The same log lines through both, in turn.
func TestOutputToTmux(t *testing.T) {
	if !benching(t) {
		return
	}
	b := newShimBench(t)
	const size = 128 << 20
	command := fmt.Sprintf("yes '2026-01-01 12:00:00 INFO a line of a log that is about eighty bytes long, like many' | head -c %d", size)
	socket := "perdure-bench-" + fmt.Sprint(time.Now().UnixNano())
	tmux := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-f", "/dev/null", "-L", socket}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
	}
	tmux("new-session", "-d", "-x", "120", "-y", "40", "sleep 600")
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", socket, "kill-server").Run() })
	var ratios []float64
	for range 9 {
		begin := time.Now()
		tmux("new-window", "-d", command+"; tmux -L "+socket+" wait-for -S printed")
		tmux("wait-for", "printed")
		window := time.Since(begin)
		act, took := b.print(command, size)
		ratios = append(ratios, float64(window)/float64(took))
		if err := b.Remove("bench", act); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("log lines: %.1f times as fast as in tmux", median(ratios))
	if median(ratios) < minTmuxRatio {
		t.Errorf("log lines flow %.1f times as fast as in tmux, at least %d", median(ratios), minTmuxRatio)
	}
}
