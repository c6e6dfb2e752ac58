package proof_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
)

// The clock is set back by two days between two processes and once more in the middle of a retry's delay, and forward
// again: nothing waits for days, nothing is lost, and the log verifies.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	steps := []modeltest.Step{say("one", slow), say("first"), say("two", slow), say("second"), say("third")}
	for _, n := range []int{2, 3} {
		steps[n].Faults = []modeltest.Fault{{Kind: modeltest.FaultStatus, Status: 529}}
	}
	k := newTalk(t, newPlace(t), "clock", steps...)
	var offset atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	turn := func(prompt, want string, start, later time.Duration) {
		offset.Store(int64(start))
		h := k.open(homes.Config{Environ: k.env, Now: now, Observe: func(u engine.Update) {
			if u.Event != nil && u.Event.Kind == session.KindModelFailed {
				offset.Store(int64(later))
			}
		}})
		defer func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}()
		if _, err := h.State(t.Context(), k.id); absent(err) {
			agent, err := h.Agent(t.Context(), "anthropic/claude-sonnet-5-5")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Create(t.Context(), engine.Spec{ID: k.id, Agent: agent, Cwd: k.dir}); err != nil {
				t.Fatal(err)
			}
		}
		opt := homes.RunOptions{Prompt: prompt}
		opt.Mode = permission.ModeBypass
		began := time.Now()
		r, err := h.Run(t.Context(), k.id, opt)
		if err != nil || r.Result != want {
			t.Fatalf("%+v, %v", r, err)
		}
		if d := time.Since(began); d > patience/2 {
			t.Errorf("%s took %s", prompt, d)
		}
	}
	const days = 48 * time.Hour
	turn(k.prompt, "first", 0, 0)
	turn("go on", "second", -days, -2*days)
	turn("go on", "third", days, days)
	k.sound(t, "begin end begin end")
}
