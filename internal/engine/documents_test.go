package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

// desk is where documents are counted.
type desk struct {
	nowhere
	saves, puts *int
}

func (d desk) Save(context.Context, *session.State)        { *d.saves++ }
func (d desk) Put(context.Context, *session.State, []byte) { *d.puts++ }

// The state file is written when something that it says has changed, and every twentieth reply besides.
func TestHowOftenTheStateFileIsWritten(t *testing.T) {
	s := newStage(t)
	d := desk{saves: new(int), puts: new(int)}
	s.config = func(c *engine.Config) { c.Documents = d }
	var at []int
	s.answer = func(_ context.Context, n int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		at = append(at, *d.saves) // after n replies
		switch n {
		case 65:
			return reply(modelapi.StopEndTurn, text("done")), nil
		case 45:
			return reply(modelapi.StopToolUse, use("p", "TodoWrite", `{"todos":[{"content":"c","status":"pending"}]}`)), nil
		}
		return reply(modelapi.StopToolUse, use(fmt.Sprint("u", n), "Read", `{"file_path":"/w/x"}`)), nil
	}
	s.files.m["/w/x"] = []byte("x")
	_, se := s.start("go")
	run(t, se)
	for replies, want := range map[int]int{0: 0, 19: 0, 20: 1, 21: 1, 39: 1, 40: 2, 45: 2, 46: 3, 64: 3, 65: 3} {
		if at[replies] != want {
			t.Errorf("after %d replies it was written %d times, want %d", replies, at[replies], want)
		}
	}
}

// A compaction whose summary says where the work stands leaves it to the next session, too, and one by rule does not.
func TestACompactionLeavesAHandoff(t *testing.T) {
	c := newCrowd(t, 12_000, 30, 4000)
	d := desk{saves: new(int), puts: new(int)}
	c.config = func(e *engine.Config) { e.Documents = d }
	p, se := c.start("go")
	run(t, se)
	whole := 0
	for _, b := range compactions(t, p) {
		if b.Level == session.LevelWhole {
			whole++
		}
	}
	if n := happened(t, p, session.KindHandoffWritten); whole == 0 || n != whole || *d.puts != whole {
		t.Errorf("%d compactions of the whole, %d handoffs, %d laid down", whole, n, *d.puts)
	}

	c = newCrowd(t, 12_000, 40, 400) // compacting in vain: it goes from level to level
	c.config = func(e *engine.Config) { e.Documents = d }
	c.count = func(modelapi.Request) int64 {
		if c.asked == 0 && len(c.requests) < 4 {
			return 100
		}
		return 10_000
	}
	p, se = c.start("go")
	run(t, se)
	whole, other := 0, 0
	for _, b := range compactions(t, p) {
		if b.Level == session.LevelWhole {
			whole++
		} else {
			other++
		}
	}
	if n := happened(t, p, session.KindHandoffWritten); other == 0 || n != whole {
		t.Errorf("%d compactions of the whole, %d others, %d handoffs", whole, other, n)
	}
}

// The end of a session that leaves documents is written down by rule, where the model has no time for it.
func TestAHandoffWithoutAModel(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, text("one")))
	d := desk{saves: new(int), puts: new(int)}
	s.config = func(c *engine.Config) { c.Documents = d }
	_, se := s.start("go")
	run(t, se)
	n := len(s.requests)
	must(t, se.Handoff(t.Context(), session.HandoffEnd, 0))
	if h := se.State().Handoff; h == nil || h.Words != 0 || len(s.requests) != n || *d.puts != 1 {
		t.Errorf("handoff %+v, %d requests, %d laid down", h, len(s.requests)-n, *d.puts)
	}
}
