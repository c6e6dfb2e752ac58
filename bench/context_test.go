package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/provider/anthropic"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// The targets of the context.
const (
	maxAssembly   = 10 * time.Millisecond // the next request of 150,000 tokens, beyond reading its ranges
	maxCompaction = 20 * time.Millisecond // the engine's own part of a compaction, the model's call apart
	maxResume     = 1.2                   // opening, and the first request, after 50 compactions to those after one
)

// Goal: what is made of the log for a request, or for a compaction, costs little beside reading it.
func TestAssemblyFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	h, c := working(t, homes.Config{}, says("begin-it", looks(190)...))
	id := worker(t, h, project(t), 1<<40)
	goOn(t, h, c, id, "begin-it")
	ctx, api := t.Context(), anthropic.New(anthropic.Config{Key: "none"})
	st, err := h.State(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var reads, conversations, compactions, prefixes, extra []time.Duration
	clock := func(into *[]time.Duration, f func() error) time.Duration {
		began := time.Now()
		if err := f(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		*into = append(*into, took)
		return took
	}
	for range 21 {
		read := clock(&reads, func() error {
			for _, r := range st.Conversation() {
				for ev, err := range h.Store().Read(ctx, r.Session, r.From, r.To) {
					if err != nil || ev.Seq == 0 {
						return err
					}
				}
			}
			return nil
		})
		var tr *session.Transcript
		var messages []model.Message
		made := clock(&conversations, func() (err error) {
			if tr, err = h.Transcript(ctx, st); err == nil {
				messages = tr.Upcoming()
			}
			return err
		})
		extra = append(extra, made-read)
		clock(&compactions, func() error {
			if window.Compact(st, tr, window.Ask{N: 1, Reason: session.CompactAsked, Summary: "It was read."}) == nil {
				return fmt.Errorf("nothing to compact")
			}
			return nil
		})
		clock(&prefixes, func() error {
			_, err := api.Prefix(modelapi.Request{Model: "m", Messages: messages, MaxTokens: 4096})
			return err
		})
	}
	t.Logf("%s: %d tokens: its ranges read %v; to the messages of a request %v, %v beyond; rendered and digested %v; the body of a compaction %v",
		load(), st.Estimate(), median(reads), median(conversations), median(extra), median(prefixes), median(compactions))
	if most := max(median(extra), median(compactions)); most > maxAssembly {
		t.Errorf("target: %v", maxAssembly)
	}
}

// Goal: a compaction keeps the agent no longer than a few steps, the model's call for a summary apart; and a session opens
// and asks as quickly after 50 compactions as after one.
func TestCompactionFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	type side struct {
		h           *homes.Home
		c           *clocked
		id          string
		open, first []time.Duration
	}
	dir, sides := project(t), []*side{}
	for _, steps := range []int{100, 3600} {
		h, c := working(t, homes.Config{Memory: homes.MemoryInHome}, says("resume-it"), says("begin-it", looks(steps)...))
		s := &side{h: h, c: c, id: worker(t, h, dir, 60_000)}
		goOn(t, h, c, s.id, "begin-it")
		if own := ownPart(c); steps > 1000 {
			t.Logf("%s: %d compactions in %d steps: the engine's own part %s beyond that of a step, %v", load(), len(own), steps, quantiles(own), median(c.steps))
			if median(own) > maxCompaction {
				t.Errorf("target: %v", maxCompaction)
			}
		}
		if _, err := h.Compact(t.Context(), s.id, ""); err != nil {
			t.Fatal(err)
		}
		sides = append(sides, s)
	}
	var open, first []float64
	for range 31 {
		for _, s := range sides { // in turn
			s.open = append(s.open, medianOf(t, 1, func() {
				st, err := s.h.State(t.Context(), s.id)
				if err == nil {
					_, err = s.h.Transcript(t.Context(), st)
				}
				if err != nil {
					t.Fatal(err)
				}
			}))
			began := time.Now()
			goOn(t, s.h, s.c, s.id, "resume-it")
			s.first = append(s.first, s.c.asked.Sub(began))
		}
		n := len(sides[0].open) - 1
		open = append(open, float64(sides[1].open[n])/float64(sides[0].open[n]))
		first = append(first, float64(sides[1].first[n])/float64(sides[0].first[n]))
	}
	for _, s := range sides {
		st, err := s.h.State(t.Context(), s.id)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d events, a state of %d KiB: open %v, to the first request %v", load(), st.Head.Seq, len(raw)>>10, median(s.open), median(s.first))
	}
	t.Logf("ratios: open %.2f, first request %.2f", median(open), median(first))
	if max(median(open), median(first)) > maxResume {
		t.Errorf("target: %.1f", maxResume)
	}
}

// ownPart is what each compaction of a turn took beyond a step, but for the model's call: to the request for the summary,
// and from it to the next one.
func ownPart(c *clocked) (out []time.Duration) {
	for _, i := range c.summaries {
		if i >= 0 && i+1 < len(c.steps) {
			out = append(out, c.steps[i]+c.steps[i+1]-median(c.steps))
		}
	}
	return out
}
