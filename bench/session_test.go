package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// The targets of sessions.
const (
	maxOpen10k    = 5 * time.Millisecond  // open, fold and tail of 10,000 events, warm
	maxOpenGrowth = 1.5                   // of 100,000 events against 100, with the same live context
	maxFirst      = 80 * time.Millisecond // from perdure -p to its first request
)

// openHome opens a home that the test closes.
func openHome(t *testing.T) *homes.Home {
	t.Helper()
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{ShimPath: []string{"/bin/false"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// grow makes a session of about n events: app events, and a short conversation at the end.
func grow(t *testing.T, h *homes.Home, id string, n int) {
	t.Helper()
	ctx := t.Context()
	if _, err := h.Create(ctx, engine.Spec{ID: id, Agent: session.Agent{Provider: "none", Model: "none"}, Cwd: "/"}); err != nil {
		t.Fatal(err)
	}
	s, err := h.Record(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	me := store.Actor{Type: store.ActorUser}
	batch := make([]session.Body, 0, 500)
	for i := range n {
		batch = append(batch, &session.App{Namespace: "bench", Data: fmt.Appendf(nil, "event %d of a log that is long", i)})
		if len(batch) == cap(batch) || i == n-1 {
			if _, err := s.Append(ctx, me, batch...); err != nil {
				t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	for i := range 20 {
		note := &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(fmt.Sprintf("line %d", i))}}
		if _, err := s.Append(ctx, me, note); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// median times what f does.
func medianOf(t *testing.T, n int, f func()) time.Duration {
	t.Helper()
	f() // warm
	times := make([]time.Duration, n)
	for i := range times {
		begin := time.Now()
		f()
		times[i] = time.Since(begin)
	}
	slices.Sort(times)
	return times[n/2]
}

// Goal: opening a session costs the same however long its log is.
func TestOpenFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	h, ctx := openHome(t), t.Context()
	sizes, all, times := []int{100, 10_000, 100_000}, map[int][]time.Duration{}, map[int]time.Duration{}
	for _, n := range sizes {
		grow(t, h, fmt.Sprintf("n%d", n), n)
	}
	for range 101 { // in turn, so that a change of the machine's mood hits all
		for _, n := range sizes {
			all[n] = append(all[n], medianOf(t, 1, func() {
				st, err := h.State(ctx, fmt.Sprintf("n%d", n))
				if err == nil {
					_, err = h.Transcript(ctx, st)
				}
				if err != nil {
					t.Fatal(err)
				}
			}))
		}
	}
	for _, n := range sizes {
		times[n] = median(all[n])
	}
	growth := float64(times[100_000]) / float64(times[100])
	t.Logf("open+fold+tail: 100 events %v, 10,000 %v, 100,000 %v; 100,000:100 = %.2f", times[100], times[10_000], times[100_000], growth)
	if times[10_000] > maxOpen10k || growth > maxOpenGrowth {
		t.Errorf("targets: 10,000 events in %v, growth %.1f", maxOpen10k, maxOpenGrowth)
	}
}

func buildPerdure(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "perdure")
	build := exec.Command("go", "build", "-o", exe, "github.com/perdure/perdure/cmd/perdure")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return exe
}

// Goal: perdure -p reaches the model quickly.
func TestFirstRequestFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	exe := buildPerdure(t)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan time.Time, 64)
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		seen <- time.Now()
		w.WriteHeader(http.StatusUnauthorized)
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	home := t.TempDir()
	var times []time.Duration
	for range 21 {
		cmd := exec.CommandContext(context.Background(), exe, "-p", "hello")
		cmd.Env = []string{"PERDURE_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=none-at-all", "ANTHROPIC_BASE_URL=http://" + l.Addr().String()}
		cmd.Dir = home
		begin := time.Now()
		_ = cmd.Run() // the server refuses the key
		times = append(times, (<-seen).Sub(begin))
	}
	slices.Sort(times)
	t.Logf("perdure -p to its first request: median %v, slowest %v", times[len(times)/2], times[len(times)-1])
	if times[len(times)/2] > maxFirst {
		t.Errorf("target: %v", maxFirst)
	}
}
