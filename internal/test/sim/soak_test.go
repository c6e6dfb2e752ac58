package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/test/sim"
)

// erratic dies at random points, some tens of them in a run, and comes back after a random while.
func erratic(seed uint64) sim.Config {
	r := rand.New(rand.NewPCG(seed, 1))
	every := 20 + r.IntN(400)
	left := 1 + r.IntN(40)
	return sim.Config{
		Plan: func(sim.Point) bool {
			if left == 0 || r.IntN(every) > 0 {
				return false
			}
			left--
			return true
		},
		Restart: func() time.Duration {
			switch r.IntN(4) {
			case 0:
				return 0
			case 1:
				return time.Duration(r.IntN(30)) * time.Millisecond
			case 2:
				return time.Duration(r.IntN(3000)) * time.Millisecond
			}
			return time.Duration(r.IntN(60)) * time.Second
		},
	}
}

// Random deaths and absences change nothing. PERDURE_SIM_SEED plays one seed again; PERDURE_SOAK=1 plays many.
func TestRandomDeaths(t *testing.T) {
	first, n := uint64(1), uint64(40)
	if soak() {
		first, n = uint64(time.Now().UnixNano()), 3000
	}
	if s := os.Getenv("PERDURE_SIM_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, n = seed, 1
	}
	t.Logf("seeds %d to %d", first, first+n-1)
	parts := append(sim.Chapters(), sim.Full)
	wants := make([]sim.Outcome, len(parts))
	for i, script := range parts {
		_, _, wants[i] = play(t, script(), sim.Config{})
	}
	for shard := range uint64(4) {
		t.Run(fmt.Sprintf("shard%d", shard), func(t *testing.T) {
			t.Parallel()
			for seed := first + shard; seed < first+n; seed += 4 {
				part := int(seed % uint64(len(parts)))
				for _, p := range verdict(t, parts[part], erratic(seed), wants[part]) {
					t.Errorf("seed %d: %s", seed, p)
				}
			}
		})
	}
}
