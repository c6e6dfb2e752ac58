package bench

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

// The targets of steps and turns.
const (
	maxStep   = 5 * time.Millisecond // the agent's own part of a step, p50
	maxGrowth = 1.2                  // bytes on disk of a late turn to those of an early one
)

// clocked is a model that notes how long the agent takes from one reply to the next request.
type clocked struct {
	modelapi.Provider
	asked     time.Time // when the newest request came
	replied   time.Time
	steps     []time.Duration
	summaries []int // of steps, those that end with a request for a summary
}

func (c *clocked) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	c.asked = time.Now()
	if !c.replied.IsZero() {
		c.steps = append(c.steps, c.asked.Sub(c.replied))
	}
	if r.NoTools {
		c.summaries = append(c.summaries, len(c.steps)-1)
	}
	resp, err := c.Provider.Call(ctx, r, sink)
	c.replied = time.Now()
	return resp, err
}

// reading is a clocked model that reads a small file n times in each turn, and a home that works with it.
func reading(t *testing.T, n int) (h *homes.Home, c *clocked, id string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look := `{"text": "look", "tools": [{"name": "Read", "input": {"file_path": "x.txt"}}]},`
	text := `{"turns": [{"match": "go", "steps": [`
	for range n {
		text += look
	}
	script, err := scripted.Parse([]byte(text + `{"text": "done"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c = &clocked{Provider: scripted.New(script)}
	h, err = homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{
		ShimPath: []string{"/bin/false"}, Provider: func(string) (modelapi.Provider, error) { return c, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	agent := session.Agent{Provider: "scripted", Model: "bench", MaxTokens: 4096, Window: 1 << 40}
	id, err = h.Create(t.Context(), engine.Spec{Agent: agent, Cwd: dir, Mode: permission.ModeDefault})
	if err != nil {
		t.Fatal(err)
	}
	return h, c, id
}

// ordinary are the steps without those that end with a request for a summary.
func (c *clocked) ordinary() (out []time.Duration) {
	for i, d := range c.steps {
		if !slices.Contains(c.summaries, i) {
			out = append(out, d)
		}
	}
	return out
}

func turn(t *testing.T, h *homes.Home, id string) {
	t.Helper()
	if r, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: "go"}); err != nil || r.IsError {
		t.Fatalf("%+v, %v", r, err)
	}
}

func quantiles(times []time.Duration) string {
	times = slices.Sorted(slices.Values(times))
	return fmt.Sprintf("p50 %v, p99 %v", times[len(times)/2], times[len(times)*99/100])
}

// Goal: the agent's own part of a step, from the end of a reply to the next request with a tool call of next to
// nothing in between, is small, and does not grow with the turn.
func TestStepFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	const steps = 400
	h, c, id := reading(t, steps)
	turn(t, h, id)
	first, second := c.steps[:steps/2], c.steps[steps/2:]
	t.Logf("a step: %s; in the first half of %d steps %s, in the second %s", quantiles(c.steps), steps, quantiles(first), quantiles(second))
	if p50 := slices.Sorted(slices.Values(second))[len(second)/2]; p50 > maxStep {
		t.Errorf("target: p50 %v", maxStep)
	}
}

// onDisk is the size of a home's database with everything in it: the write-ahead log is copied and cut first.
func onDisk(t *testing.T, h *homes.Home) int64 {
	t.Helper()
	path := filepath.Join(h.Dir(), "perdure.db")
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var busy, size, copied int
	if err := db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &size, &copied); err != nil || busy != 0 {
		t.Fatalf("checkpoint: busy %d, %v", busy, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size() + wal.Size()
}

// Goal: the bytes on disk of a turn, snapshots and indexes included, are the same for the tenth turn of a session and
// for the three thousandth.
func TestTurnBytesFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	const window = 100 // turns over which a figure is taken, so that it holds the snapshots of several
	h, _, id := reading(t, 1)
	done, ctx := 0, t.Context()
	until := func(n int) int64 {
		s, err := h.Hold(ctx, id, homes.HoldOptions{})
		for ; err == nil && done < n; done++ {
			_, err = s.Prompt(ctx, "go")
		}
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return onDisk(t, h)
	}
	logged := func() int64 {
		info, err := h.Store().Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return info.Bytes
	}
	var figures []float64
	for _, at := range []int{10, 110, 1000, 3000} {
		before, events := until(at), logged()
		after := until(at + window)
		figures = append(figures, float64(after-before)/window)
		t.Logf("turn %d: the home has %d KiB; each of the next %d turns adds %.0f bytes to it, of which %d are bodies of events",
			at, before>>10, window, figures[len(figures)-1], (logged()-events)/window)
	}
	if ratio := figures[len(figures)-1] / figures[0]; ratio > maxGrowth {
		t.Errorf("a turn takes %.2f times the bytes that an early one took; target: %.1f", ratio, maxGrowth)
	}
}
