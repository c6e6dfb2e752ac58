package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// The target of a session's beginning in a home of 2,000 sessions, 200 of them of its directory, to that in one of 20, 2 of
// them. The listing is sorted by its age, which takes 4 µs for each of the directory.
const maxMany = 2.5

// Goal: what the sessions before it cost the beginning of a session does not grow with their number.
func TestManySessionsFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	const all, here, rounds = 2000, 200, 31
	agent := session.Agent{Provider: "scripted", Model: "bench", MaxTokens: 4096, Window: 60_000}
	type place struct {
		h    *homes.Home
		dir  string
		took []time.Duration
	}
	places := map[int]*place{}
	for _, n := range []int{all / 100, all} {
		h, c := working(t, homes.Config{Memory: homes.MemoryInHome}, says("first"))
		p := &place{h: h, dir: project(t)}
		for i := range n {
			dir := p.dir
			if i%(all/here) != 0 {
				dir = fmt.Sprintf("/srv/other%d", i%97)
			}
			if _, err := h.Create(t.Context(), engine.Spec{ID: fmt.Sprintf("s%04d", i), Agent: agent, Cwd: dir, Fresh: true}); err != nil {
				t.Fatal(err)
			}
		}
		for _, i := range []int{0, n / 2 / (all / here) * (all / here)} { // they leave something
			goOn(t, h, c, fmt.Sprintf("s%04d", i), "first")
		}
		places[n] = p
	}
	for i := range rounds { // in turn
		for _, p := range places {
			began := time.Now()
			if _, err := p.h.Create(t.Context(), engine.Spec{ID: fmt.Sprintf("new%d", i), Agent: agent, Cwd: p.dir}); err != nil {
				t.Fatal(err)
			}
			p.took = append(p.took, time.Since(began))
		}
	}
	few, many := median(places[all/100].took), median(places[all].took)
	ratio := float64(many) / float64(few)
	t.Logf("%s: a session begins, of %d before it %v, of %d (%d in its directory) %v; ratio %.2f", load(), all/100, few, all, here, many, ratio)
	if ratio > maxMany {
		t.Errorf("target: %.1f", maxMany)
	}
}
