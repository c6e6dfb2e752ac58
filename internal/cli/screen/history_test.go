package screen_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// past is a home whose logs are written by hand.
type past struct {
	t     testing.TB
	home  *homes.Home
	clock time.Time
}

func newPast(t testing.TB) *past {
	p := &past{t: t, clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	home, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{Environ: []string{"HOME=" + t.TempDir()}, Now: func() time.Time { return p.clock }})
	if err != nil {
		t.Fatal(err)
	}
	p.home = home
	t.Cleanup(func() { _ = home.Close() })
	return p
}

// said makes a session in which messages were received.
func (p *past) said(id string, bodies ...session.Body) {
	p.t.Helper()
	if _, err := p.home.Create(p.t.Context(), homes.Spec{ID: id, Cwd: "/"}); err != nil {
		p.t.Fatal(err)
	}
	p.adds(id, homes.User, bodies...)
}

func (p *past) adds(id string, actor store.Actor, bodies ...session.Body) {
	p.t.Helper()
	s, err := p.home.Record(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, b := range bodies {
		p.clock = p.clock.Add(time.Second)
		if _, err := s.Append(p.t.Context(), actor, b); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func message(text string) session.Body {
	return &session.MessageReceived{Key: text, Content: []model.Part{model.TextPart(text)}}
}

// Goal: what people said comes from all sessions, the newest first, each once; what others said does not.
func TestHistoryIsOfAllSessions(t *testing.T) {
	p := newPast(t)
	p.said("a", message("first"), message("fix the parser"), message("again"))
	p.said("b", message("again"), message("  run the tests\n"), message(strings.Repeat("x", screen.MaxPrompt+1)))
	p.adds("b", store.Actor{Type: store.ActorEngine}, message("told by the engine"))
	p.adds("b", homes.User, &session.MessageReceived{Key: "n", Note: true, Content: []model.Part{model.TextPart("a note")}})
	h := screen.NewHistory(p.home, time.Now)
	got, err := h.Newest(t.Context(), 10)
	if want := []string{"run the tests", "again", "fix the parser", "first"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, _ := h.Newest(t.Context(), 2); len(got) != 2 {
		t.Errorf("two of them: %q", got)
	}
	if got, err := h.Search(t.Context(), "THE parser", 10); err != nil || !slices.Equal(got, []string{"fix the parser"}) {
		t.Errorf("%q, %v", got, err)
	}
	p.adds("a", homes.User, message("said since"))
	p.said("c", message("in a new one"))
	if got, _ := h.Newest(t.Context(), 3); !slices.Equal(got, []string{"in a new one", "said since", "run the tests"}) {
		t.Errorf("what was said since: %q", got)
	}
}

// Goal: an answer comes in time, however much there is; whoever asks again gets the rest, and nothing is read twice.
func TestHistoryAnswersInTime(t *testing.T) {
	p := newPast(t)
	const sessions = 60
	for i := range sessions {
		p.said(fmt.Sprintf("s%02d", i), message(fmt.Sprintf("prompt %02d", i)))
	}
	// Each look at this clock is a millisecond, so that the time is over in the middle.
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := screen.NewHistory(p.home, func() time.Time { now = now.Add(time.Millisecond); return now })
	var got []string
	asked := 0
	for ; asked < 100; asked++ {
		list, err := h.Search(t.Context(), "prompt", 100)
		if len(list) < len(got) {
			t.Fatalf("less than before: %d after %d", len(list), len(got))
		}
		if got = list; err == nil {
			break
		} else if !errors.Is(err, composer.ErrMore) {
			t.Fatal(err)
		}
	}
	if asked < 2 || asked > sessions || len(got) != sessions || got[0] != "prompt 59" || got[sessions-1] != "prompt 00" {
		t.Errorf("asked %d times: %d, %.3q", asked, len(got), got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := screen.NewHistory(p.home, time.Now).Search(ctx, "x", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it: %v", err)
	}
}

// BenchmarkFirstAnswer is the first question to a home of 10,000 sessions.
func BenchmarkFirstAnswer(b *testing.B) {
	p := newPast(b)
	for i := range 10_000 {
		p.said(fmt.Sprintf("s%05d", i), message(fmt.Sprintf("prompt %05d of many", i)))
	}
	for _, words := range []string{"", "00007"} {
		b.Run("words="+words, func(b *testing.B) {
			for b.Loop() {
				if _, err := screen.NewHistory(p.home, time.Now).Search(b.Context(), words, 200); err != nil && !errors.Is(err, composer.ErrMore) {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			h := screen.NewHistory(p.home, time.Now)
			for {
				if _, err := h.Search(b.Context(), "00007", 200); !errors.Is(err, composer.ErrMore) {
					break
				}
			}
		}
	})
}
