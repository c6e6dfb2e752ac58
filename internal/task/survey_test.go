//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// Goal: one look at many commands says of each what a look at it alone says, whether the process table was worth reading
// or not, and also of one whose shim was replaced; a command that is over is left out.
func TestSurvey(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	var acts []Target
	for i := range 3 {
		act := fmt.Sprintf("a%d", i)
		b.start(b.script(act, "sleep 60 & setsid sleep 60 & sleep 60"))
		acts = append(acts, Target{testSession, act})
	}
	b.start(b.script("over", "true"))
	b.wait("over")
	acts = append(acts, Target{testSession, "over"}, Target{testSession, "none"}, Target{"../..", "x"})
	b.killShim("a2")
	b.look("a2")
	eventually(t, "all have started their children", func() bool {
		for _, a := range acts[:3] {
			in, err := b.Inspect(a.Session, a.Act)
			if err != nil || len(in.PIDs) != 4 {
				return false
			}
		}
		return true
	})
	for _, many := range [][]Target{acts, slices.Concat(acts, slices.Repeat(acts[:1], tableWorth))} {
		got := b.LookAll(t.Context(), many)
		for i, a := range acts[:3] {
			want, err := b.Inspect(a.Session, a.Act)
			in := got[i].Use
			if err != nil || got[i].Err != nil || got[i].Status != command.Running || !slices.Equal(in.PIDs, want.PIDs) || in.RSS < 1<<20 || in.Age <= 0 || in.Ports == nil {
				t.Errorf("%d at once: %s: %+v; alone %+v, %v", len(many), a.Act, got[i], want, err)
			}
		}
		if over := got[3]; over.Status != command.Exited || over.Use.PIDs != nil || over.Err != nil {
			t.Errorf("over: %+v", over)
		}
		if got[4].Reason != command.ReasonDirMissing || !errors.Is(got[5].Err, ErrInvalid) {
			t.Errorf("unknown: %+v; misnamed: %+v", got[4], got[5])
		}
	}
	for _, a := range acts[:3] {
		b.Kill(context.Background(), testSession, a.Act, "user")
	}
	for i, got := range b.LookAll(t.Context(), acts[:3]) {
		if got.Status != command.Killed || len(got.Use.PIDs) != 0 {
			t.Errorf("%d after the end: %+v", i, got)
		}
	}
}
