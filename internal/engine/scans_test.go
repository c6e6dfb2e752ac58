package engine

import (
	"context"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
)

// How far an output was looked at is recorded when it is far, and not often; at the end it is recorded however little it
// is, so that the next holder does not look at it again.
func TestHowFarOutputsWereLookedAt(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for name, c := range map[string]struct {
		at, since int64 // bytes looked at, seconds since the last record
		end, kept bool
	}{
		"the end":            {at: 7, end: true, kept: true},
		"the end, as before": {at: 0, end: true},
		"little":             {at: 7, since: 60},
		"much, just now":     {at: scanBytes + 1, since: 1},
		"much":               {at: scanBytes + 1, since: 60, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			home := memory.Home{}
			e, err := New(Config{
				Store: home.Open(), Files: tools.OSFiles{}, Provider: func(string) (modelapi.Provider, error) { return nil, nil }, Now: func() time.Time { return now },
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Create(t.Context(), Spec{ID: "s", Cwd: "/", Agent: session.Agent{Provider: "p", Model: "m"}}); err != nil {
				t.Fatal(err)
			}
			s, err := e.Open(t.Context(), "s", Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close(context.Background(), "done") }()
			s.state.Awaits = append(s.state.Awaits, session.Await{ID: "a", Event: session.AwaitLine})
			w := &awaitWatch{s: &s.awaits, saved: now.Add(-time.Duration(c.since) * time.Second), stop: func() {}}
			w.finder.At = c.at
			s.awaiting.watches = map[string]*awaitWatch{"a": w}
			if err := s.saveScans(t.Context(), c.end); err != nil {
				t.Fatal(err)
			}
			if got := s.state.Await("a").Position; (got == c.at && c.at > 0) != c.kept {
				t.Errorf("position %d is recorded", got)
			}
			s.awaiting.watches = nil
		})
	}
}
