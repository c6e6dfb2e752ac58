package proof_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/modeltest"
)

// tally sums up a campaign.
type tally struct {
	mu       sync.Mutex
	rounds   int
	kills    map[string]int
	acks     int
	commands int
	broken   map[string]int
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
	t.acks += len(e.acks)
	t.commands += len(e.plan.marks) / 2
	for _, p := range v {
		t.broken[p.promise]++
	}
}

// Agents of the real binary are killed by SIGKILL, at random and at chosen moments, and resumed until their work is
// done. Whatever moment it was, every promise holds.
func TestKill(t *testing.T) {
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
	t.Logf("%d rounds, %d kills %v, %d acknowledged events, %d commands", sum.rounds, sum.total(), sum.kills, sum.acks, sum.commands)
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
