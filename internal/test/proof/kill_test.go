package proof_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/internal/test/proof"
)

// tally sums up a campaign.
type tally struct {
	mu        sync.Mutex
	rounds    int
	kills     map[string]int
	acks      int
	commands  int
	collected int
	broken    map[string]int
}

func (t *tally) total() (n int) {
	for _, k := range t.kills {
		n += k
	}
	return n
}

func (t *tally) add(e *evidence, v verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rounds++
	for how, n := range e.kills {
		t.kills[how] += n
	}
	seen := map[ack]bool{} // one event may have been told to several
	for _, a := range e.acks {
		seen[a] = true
	}
	t.acks += len(seen)
	t.commands += len(e.plan.marks) / 2
	for _, b := range e.bodies {
		if f, ok := b.(*session.ToolFinished); ok && f.Collected && f.ExitCode != nil {
			t.collected++
		}
	}
	for _, p := range v {
		t.broken[p.promise]++
	}
}

// figures are the tally as it is shown.
func (t *tally) figures() proof.Kill {
	k := proof.Kill{
		Rounds: t.rounds, Kills: t.total(), Moments: t.kills, Acknowledged: t.acks, Commands: t.commands, Collected: t.collected,
	}
	for promise, n := range t.broken {
		switch promise {
		case brokenLost:
			k.Lost += n
		case brokenRepeated, brokenMissing:
			k.Repeated += n
		case brokenRefused:
			k.Refused += n
		case brokenCode:
			k.WrongCodes += n
		default:
			k.Other += n
		}
	}
	return k
}

// Agents of the real binary are killed by SIGKILL, at random and at chosen moments, and resumed until their work is
// done. Whatever moment it was, every promise holds.
func TestKill(t *testing.T) {
	t.Parallel()
	want := 50
	if long() {
		want = 1000
	}
	p := newPlace(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	sum := &tally{kills: map[string]int{}, broken: map[string]int{}}
	var next int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				mu.Lock()
				n := next
				next++
				enough := sum.total() >= want || t.Failed()
				mu.Unlock()
				if enough {
					return
				}
				playRound(t, p, sum, n, seed+uint64(n))
			}
		})
	}
	wg.Wait()
	t.Logf("%+v", sum.figures())
	note(func(f *proof.Figures) { f.Kill = sum.figures() })
	for _, k := range slices.Sorted(maps.Keys(sum.broken)) {
		t.Errorf("%s: %d times", k, sum.broken[k])
	}
}

// playRound plays one round and reports what was broken.
func playRound(t *testing.T, p *place, sum *tally, n int, seed uint64) {
	api := []string{modeltest.Anthropic, modeltest.OpenAI}[n%2]
	r, err := newRound(p, api, fmt.Sprintf("round-%04d", n), seed)
	if err != nil {
		t.Error(err)
		return
	}
	e, err := r.run(t.Context(), 1+r.rng.IntN(4))
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	v := judge(e)
	for _, x := range v {
		t.Errorf("session %s, seed %d, killed %v: %s", r.id, seed, e.kills, x)
	}
	sum.add(e, v)
}
