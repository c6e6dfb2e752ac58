package desk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/provider/scripted"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/board"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// world is a home with a scripted model, and its board.
func world(t testing.TB, script string) (*homes.Home, *source) {
	t.Helper()
	dir := t.TempDir()
	h, err := homes.Open(t.Context(), filepath.Join(dir, "home"), homes.Config{
		Environ: []string{"HOME=" + dir, "USER=tester"},
		Provider: func(string) (modelapi.Provider, error) {
			s, err := scripted.Parse([]byte(script))
			return scripted.New(s), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	a := &app.App{Environ: []string{"HOME=" + dir, "PERDURE_HOME=" + filepath.Join(dir, "home")}, Dir: dir, Now: time.Now}
	return h, newSource(a, h)
}

func create(t testing.TB, h *homes.Home, id string) {
	t.Helper()
	_, err := h.Create(t.Context(), engine.Spec{
		ID: id, Owner: "tester", Title: "title of " + id, Cwd: t.TempDir(),
		Agent: session.Agent{Name: "default", Provider: "scripted", Model: "test", Tools: []byte(`[{"name":"Bash"}]`), MaxTokens: 1000, Price: &model.Price{}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, h *homes.Home, id, prompt string) {
	t.Helper()
	if _, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: prompt}); err != nil {
		t.Fatal(err)
	}
}

// list demands that something has changed, and gives the rows by id.
func list(t *testing.T, s *source) map[string]board.Row {
	t.Helper()
	rows, changed, err := s.List(t.Context())
	if err != nil || !changed {
		t.Fatalf("changed %v: %v", changed, err)
	}
	out := map[string]board.Row{}
	for _, r := range rows {
		out[r.ID] = r
	}
	return out
}

const script = `{"turns":[{"match":"ask","steps":[{"text":"I want to.","tools":[{"name":"Bash","input":{"command":"make all"}}]},{"text":"Made."}]},
 {"match":"hi","steps":[{"text":"Hello 日本語."}]}]}`

// Goal: each session stands where it belongs: what needs a person first, with what it needs; what ended since somebody
// looked is news, and none once they have.
func TestGroups(t *testing.T) {
	h, s := world(t, script)
	for id, prompt := range map[string]string{"asks": "ask", "talks": "hi"} {
		create(t, h, id)
		run(t, h, id, prompt)
	}
	create(t, h, "fresh")
	create(t, h, "shut")
	run(t, h, "shut", "hi")
	if err := s.Close(t.Context(), "shut"); err != nil {
		t.Fatal(err)
	}
	rows := list(t, s)
	for id, want := range map[string]board.Group{"asks": board.Waits, "talks": board.News, "fresh": board.Rests, "shut": board.Rests} {
		if rows[id].Group != want {
			t.Errorf("%s is in %q, want %q: %+v", id, rows[id].Group, want, rows[id])
		}
	}
	if r := rows["asks"]; !r.Answerable || r.About != "Bash make all" || r.Title != "title of asks" || r.Status != "waiting" {
		t.Errorf("%+v", r)
	}
	s.seenNow()
	again := newSource(s.app, h)
	again.seen = again.seen.Add(time.Second) // the clock of a file system is coarse
	if r := list(t, again)["talks"]; r.Group != board.Rests {
		t.Errorf("seen, it is still news: %+v", r)
	}
	if err := s.Pause(t.Context(), "asks"); err != nil {
		t.Fatal(err)
	}
	if r := list(t, s)["asks"]; r.Group != board.Rests || r.Status != "paused" {
		t.Errorf("%+v", r)
	}
}

// Goal: opening a session to look does not make it younger: what waited for long still says so, in the list while
// it is open and afterwards; what happens in it does.
func TestALookDoesNotRenewTheAge(t *testing.T) {
	h, s := world(t, script)
	create(t, h, "asks")
	run(t, h, "asks", "ask")
	before := list(t, s)["asks"]
	for range 2 {
		later(t, before.Since)
		held, err := h.Hold(t.Context(), "asks", homes.HoldOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r := list(t, s)["asks"]; !r.Since.Equal(before.Since) {
			t.Errorf("while somebody looks: since %v, was %v", r.Since, before.Since)
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		if r := list(t, s)["asks"]; !r.Since.Equal(before.Since) || r.Group != before.Group {
			t.Errorf("after a look: since %v in %q, was %v in %q", r.Since, r.Group, before.Since, before.Group)
		}
	}
	run(t, h, "asks", "hi")
	if r := list(t, s)["asks"]; !r.Since.After(before.Since) {
		t.Errorf("after a message: since %v, was %v", r.Since, before.Since)
	}
}

// later waits until the clock shows another millisecond than that.
func later(t *testing.T, than time.Time) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !time.Now().After(than.Add(time.Millisecond)); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("the clock stands still")
		}
	}
}

// Goal: nobody is asked for a thousand sessions every second when nothing has happened, and what has is not missed,
// whoever did it.
func TestUnchangedIsNotLookedAt(t *testing.T) {
	h, s := world(t, script)
	create(t, h, "one")
	list(t, s)
	for range 5 {
		if rows, changed, err := s.List(t.Context()); changed || rows != nil || err != nil {
			t.Fatalf("%v %v %v", rows, changed, err)
		}
	}
	run(t, h, "one", "hi")
	if r := list(t, s)["one"]; r.Group != board.News {
		t.Errorf("%+v", r)
	}
	if _, err := h.Send(t.Context(), "one", "", "hi again"); err != nil {
		t.Fatal(err)
	}
	if r := list(t, s)["one"]; r.Status != "parked" || r.Group != board.Waits {
		t.Errorf("a message that nobody runs: %+v", r)
	}
}

// Goal: the peek has the last words at once, and those of a running reply as they come, from whoever looks on.
func TestPeekStreams(t *testing.T) {
	h, s := world(t, `{"turns":[{"match":"hi","steps":[{"text":"Hello."}]},
 {"match":"slow","steps":[{"text":"These words take a while to come, one after the other, until there are no more.","delay_ms":60}]}]}`)
	create(t, h, "one")
	run(t, h, "one", "hi")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	seen, over := make(chan board.Peek, 1000), make(chan error, 1)
	go func() { over <- s.Peek(ctx, "one", func(p board.Peek) { seen <- p }) }()
	if p := <-seen; p.Said != "Hello." || p.Asked != "hi" || p.Live {
		t.Errorf("%+v", p)
	}
	run(t, h, "one", "slow")
	var said []string
	for deadline := time.After(20 * time.Second); len(said) == 0 || !strings.HasSuffix(said[len(said)-1], "no more."); {
		select {
		case p := <-seen:
			said = append(said, p.Said)
		case <-deadline:
			t.Fatalf("never all words: %q", said)
		}
	}
	part := func(p string) bool { return strings.HasPrefix(p, "These") && !strings.HasSuffix(p, "more.") }
	if !slices.ContainsFunc(said, part) {
		t.Errorf("no words while they came: %q", said)
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if err := s.Peek(t.Context(), "gone", func(board.Peek) {}); err == nil {
		t.Error("a session that is not there can be looked into")
	}
}

// BenchmarkList measures a look at a thousand sessions: when nothing has changed, which is what an idle board does each
// second, and when something has.
func BenchmarkList(b *testing.B) {
	h, s := world(b, script)
	for i := range 1000 {
		create(b, h, fmt.Sprintf("s%04d", i))
	}
	for _, name := range []string{"unchanged", "changed"} {
		b.Run(name, func(b *testing.B) {
			if _, _, err := s.List(b.Context()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if name == "changed" {
					s.full = time.Time{}
				}
				if _, changed, err := s.List(b.Context()); err != nil || changed != (name == "changed") {
					b.Fatal(changed, err)
				}
			}
		})
	}
}

// Goal: without a terminal the board is text, in groups, and lines of JSON for programs; an empty home says how to begin.
func TestPrints(t *testing.T) {
	h, s := world(t, script)
	var out, said strings.Builder
	s.app.Stdout, s.app.Stderr = &out, &said
	if err := print(t.Context(), s.app, s); err != nil || out.Len() > 0 || !strings.Contains(said.String(), "perdure start") {
		t.Errorf("%v %q %q", err, out.String(), said.String())
	}
	create(t, h, "asks")
	run(t, h, "asks", "ask")
	create(t, h, "talks")
	run(t, h, "talks", "hi")
	s.full = time.Time{}
	if err := print(t.Context(), s.app, s); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.HasPrefix(lines[0], "NEEDS") || !strings.Contains(lines[1], "waits for you") || !strings.Contains(lines[1], "Bash make all") || !strings.Contains(lines[2], "ended with news") {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	s.full = time.Time{}
	if err := printJSON(t.Context(), s.app, s); err != nil || !strings.Contains(out.String(), `"group":"waits"`) || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("%v %s", err, out.String())
	}
}

func TestMain(m *testing.M) {
	homes.RunShimIfAsked()
	os.Exit(m.Run())
}
