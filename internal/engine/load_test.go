package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// callsWork is the bytes that one reply of n calls allocates on its way to the end of its turn.
func callsWork(t *testing.T, n int, call func(i int) model.Block) uint64 {
	t.Helper()
	blocks := make([]model.Block, n)
	for i := range blocks {
		blocks[i] = call(i)
	}
	s, _ := shell(t, blocks...)
	p, se := s.start("go")
	se = restart(t, p, se)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	run(t, se)
	runtime.ReadMemStats(&after)
	t.Logf("%d calls: %d KiB, %v", n, (after.TotalAlloc-before.TotalAlloc)>>10, time.Since(began))
	return after.TotalAlloc - before.TotalAlloc
}

// TestManyCallsOfAReplyCostTheirNumber: twice the calls of one reply cost about twice the work, not four times.
func TestManyCallsOfAReplyCostTheirNumber(t *testing.T) {
	for name, call := range map[string]func(i int) model.Block{
		"reads":    func(i int) model.Block { return use(fmt.Sprint(i), "Read", `{"file_path":"/w/none"}`) },
		"commands": func(i int) model.Block { return use(fmt.Sprint(i), "Bash", `{"command":"print 16"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			few, many := callsWork(t, 250, call), callsWork(t, 500, call)
			if ratio := float64(many) / float64(few); ratio > 2.6 {
				t.Errorf("twice the calls allocate %.1f times the bytes", ratio)
			}
		})
	}
}

// TestAReplyOfTooManyCalls: what is over the bound is answered and not made, and the turn goes on.
func TestAReplyOfTooManyCalls(t *testing.T) {
	blocks := make([]model.Block, 1200)
	for i := range blocks {
		blocks[i] = use(fmt.Sprint(i), "Write", fmt.Sprintf(`{"file_path":"/w/%d","content":"x"}`, i))
	}
	s, _ := shell(t, blocks...)
	p, se := s.start("go")
	se = restart(t, p, se)
	if st := run(t, se); st.Turn != nil {
		t.Errorf("the turn is open: %+v", st.Turn.Model)
	}
	if len(s.files.m) != 1000 {
		t.Errorf("%d files were written", len(s.files.m))
	}
	if n := strings.Count(render(s.last().Messages), "at most 1,000 calls"); n != 200 {
		t.Errorf("%d calls were told that they were not made", n)
	}
}

// TestASignalIsHeardBetweenCalls: of a reply with many calls, what is not begun when the holder is asked to stop is left
// for the next one.
func TestASignalIsHeardBetweenCalls(t *testing.T) {
	blocks := make([]model.Block, 900)
	for i := range blocks {
		blocks[i] = use(fmt.Sprint(i), "Read", `{"file_path":"/w/none"}`)
	}
	s, _ := shell(t, blocks...)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	decided := 0
	config := s.config
	s.config = func(c *engine.Config) {
		config(c)
		c.Observe = func(u engine.Update) {
			if _, ok := u.Body.(*session.ToolDecided); ok {
				if decided++; decided == 5 {
					stop()
				}
			}
		}
	}
	_, se := s.start("go")
	if err := se.Run(ctx); !errors.Is(err, engine.ErrParked) || decided != 5 {
		t.Errorf("%v after %d decisions", err, decided)
	}
}

// TestALargeInputCostsItsSize: twice the bytes of one call's input cost about twice the work.
func TestALargeInputCostsItsSize(t *testing.T) {
	work := func(size int) uint64 {
		return callsWork(t, 1, func(int) model.Block {
			return use("a", "Write", `{"file_path":"/w/f","content":"`+strings.Repeat("x", size)+`"}`)
		})
	}
	few, many := work(4<<20), work(8<<20)
	if ratio := float64(many) / float64(few); ratio > 2.6 {
		t.Errorf("twice the bytes allocate %.1f times as much", ratio)
	}
	if many > 60*8<<20 {
		t.Errorf("8 MiB of input allocate %d MiB", many>>20)
	}
}
