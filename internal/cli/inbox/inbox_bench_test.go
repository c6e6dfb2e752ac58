package inbox

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// How long it takes to find what waits among 10,000 sessions of which none is held.
func BenchmarkInbox(b *testing.B) {
	const sessions = 10_000
	dir := filepath.Join(b.TempDir(), "home")
	h, err := homes.Open(b.Context(), dir, homes.Config{Environ: []string{}})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	work := make(chan int)
	done := make(chan error)
	for range 16 {
		go func() {
			var failed error
			for i := range work {
				_, err := h.Create(context.Background(), engine.Spec{ID: fmt.Sprintf("s%05d", i), Cwd: "/", Agent: session.Agent{Provider: "p", Model: "m", System: "s", MaxTokens: 10}})
				if err != nil {
					failed = err
				}
			}
			done <- failed
		}()
	}
	for i := range sessions {
		work <- i
	}
	close(work)
	for range 16 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	a := &app.App{Now: time.Now}
	for b.Loop() {
		if _, err := Entries(b.Context(), a, h, b.Logf); err != nil {
			b.Fatal(err)
		}
	}
}
