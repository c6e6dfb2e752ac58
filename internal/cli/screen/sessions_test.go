package screen_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/model"
)

// Goal: the page to choose from says of each session what it is known by, where it works, how it stands and what waits,
// and of the selected one what was said first and last, and what going on costs. It opens nothing.
func TestSessionsForThePicker(t *testing.T) {
	w := clitest.New(t)
	clitest.WriteFile(t, filepath.Join(w.Dir, ".git", "HEAD"), "ref: refs/heads/fix/login\n")
	clitest.WriteFile(t, filepath.Join(w.Dir, ".git", "refs/heads/fix/login"), strings.Repeat("a", 40)+"\n")
	model := w.Scripted(`{"turns":[{"match":"build","steps":[{"text":"I try the build.","tools":[{"name":"Bash","input":{"command":"make all"}}]}]},
		{"match":"what","steps":[{"text":"It is English."}]},{"match":"that","steps":[{"text":"It is 日本語."}]}]}`)
	w.OK("-p", "--session-id", "first", "--model", model, "what language is this?")
	w.OK("-p", "-r", "first", "and that one?")
	w.Fails(3, "waits for you", "-p", "--session-id", "second", "--name", "the build", "--model", model, "build it")
	w.OK("task", "run", "--name", "web", "--", "true")
	h := w.Open("{}")
	defer w.Close(h)
	s := screen.NewSessions(w.App, h, w.Dir)
	page, err := s.List(t.Context(), picker.Query{}, "", 10)
	if err != nil || len(page.Rows) != 2 || page.Next != "" {
		t.Fatalf("%+v %v", page, err)
	}
	rows := map[string]picker.Row{}
	for _, r := range page.Rows {
		rows[r.ID] = r
	}
	one, two := rows["first"], rows["second"]
	if one.Title != "what language is this?" || one.State != picker.Idle || one.Branch != "fix/login" || one.Dir != "~" || one.Holder != "" {
		t.Errorf("%+v", one)
	}
	if two.Title != "the build" || two.First != "build it" || two.State != picker.Waiting || two.Status != "waiting" {
		t.Errorf("%+v", two)
	}
	for words, want := range map[string]string{"BUILD it": "second", "language": "first", "fix/login build": "second", "econd": "second", "zzz": ""} {
		page, err := s.List(t.Context(), picker.Query{Words: words, All: true}, "", 10)
		if got := strings.Join(ids(page.Rows), " "); err != nil || got != want {
			t.Errorf("%q finds %q, want %q: %v", words, got, want, err)
		}
	}
	// What was said is found too, behind what the rows say, with the words around it.
	page, err = s.List(t.Context(), picker.Query{Words: "engl"}, "", 10)
	if err != nil || len(page.Rows) != 0 || page.Next == "" {
		t.Fatalf("%+v %v", page, err)
	}
	page, err = s.List(t.Context(), picker.Query{Words: "engl"}, page.Next, 10)
	if err != nil || len(page.Rows) != 1 || page.Rows[0].ID != "first" || !strings.Contains(page.Rows[0].Found, "It is English") || page.Next != "" {
		t.Errorf("%+v %v", page, err)
	}
	p, err := s.Preview(t.Context(), "first")
	if err != nil || p.First != "what language is this?" || p.Asked != "and that one?" || p.Last != "It is 日本語." || !strings.Contains(p.Next, "tokens") || !strings.Contains(p.Next, "about $") {
		t.Errorf("%+v %v", p, err)
	}
	if p, err = s.Preview(t.Context(), "second"); err != nil || len(p.Waits) != 1 || !strings.Contains(p.Waits[0], "make all") || p.Last != "I try the build." {
		t.Errorf("%+v %v", p, err)
	}
	if p, _ = s.Preview(t.Context(), "first"); !strings.Contains(p.Next, "cached for 5m") {
		t.Errorf("just asked: %q", p.Next)
	}
	// What keeps the cache is a call of the model, and not whatever else happens to the session.
	later := *w.App
	later.Now = func() time.Time { return w.App.Now().Add(10 * time.Minute) }
	if p, _ = screen.NewSessions(&later, h, w.Dir).Preview(t.Context(), "first"); !strings.Contains(p.Next, "no longer cached") {
		t.Errorf("ten minutes later: %q", p.Next)
	}
	before, _ := h.State(t.Context(), "second")
	if _, err := s.Preview(t.Context(), "second"); err != nil {
		t.Error(err)
	}
	if after, _ := h.State(t.Context(), "second"); after.Head != before.Head {
		t.Error("looking changes the session")
	}
	if _, err := s.Preview(t.Context(), "gone"); err == nil {
		t.Error("a session that is not there has a preview")
	}
}

// Goal: a search looks at many sessions before it answers, so that the one whose title is exactly what was typed is among
// the first that a page gets, although hundreds of newer ones have the same words.
func TestSearchFindsAnOldTitleAtOnce(t *testing.T) {
	w := clitest.New(t)
	h := w.Open("{}")
	defer w.Close(h)
	for i := range 600 {
		title := fmt.Sprintf("form %d: the login, fix it", i)
		if i == 0 {
			title = "fix the login form"
		}
		_, err := h.Create(t.Context(), engine.Spec{
			ID: fmt.Sprintf("s%05d", i), Owner: "tester", Title: title, Cwd: w.Dir,
			Agent: session.Agent{Name: "default", Provider: "scripted", Model: "test", MaxTokens: 1000, Price: &model.Price{}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := screen.NewSessions(w.App, h, w.Dir).List(t.Context(), picker.Query{Words: "fix the login form"}, "", 100)
	if err != nil || !slices.Contains(ids(p.Rows), "s00000") {
		t.Errorf("%d rows without it: %v", len(p.Rows), err)
	}
}

func ids(rows []picker.Row) (out []string) {
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

// BenchmarkSessions measures a real home with many sessions: the first page, and a search through all of them.
func BenchmarkSessions(b *testing.B) {
	const sessions = 10_000
	dir := filepath.Join(b.TempDir(), "home")
	h, err := homes.Open(b.Context(), dir, homes.Config{Environ: []string{"HOME=" + b.TempDir()}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	began := time.Now()
	for i := range sessions {
		_, err := h.Create(b.Context(), engine.Spec{
			ID: fmt.Sprintf("s%05d", i), Owner: "tester", Title: fmt.Sprintf("title of session %d", i), Cwd: b.TempDir(),
			Agent: session.Agent{Name: "default", Provider: "scripted", Model: "test", MaxTokens: 1000, Price: &model.Price{}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("made in %v", time.Since(began))
	a := &app.App{Environ: []string{"HOME=/nowhere"}, Now: time.Now}
	for name, q := range map[string]picker.Query{"first": {All: true}, "search": {All: true, Words: "session 9999"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				found, after := 0, ""
				for {
					page, err := screen.NewSessions(a, h, "/").List(b.Context(), q, after, 100)
					if err != nil {
						b.Fatal(err)
					}
					found, after = found+len(page.Rows), page.Next
					if after == "" || q.Words == "" {
						break
					}
				}
				if found == 0 {
					b.Fatal("nothing was found")
				}
			}
		})
	}
}

// Goal: in the list of this directory are the sessions that work in copies of it, and none that work in copies of another.
func TestCopiesAreListedWithTheirProject(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(`{"turns":[{"match":"hello","steps":[{"text":"hello"}]}]}`)
	home := w.Dir
	for _, name := range []string{"one", "two"} {
		w.App.Dir = filepath.Join(home, name)
		clitest.WriteFile(t, filepath.Join(w.App.Dir, "a"), name)
		w.OK("-p", "--session-id", name, "--model", model, "hello")
		w.OK("-p", "--session-id", name+"-copy", "--isolate", "--model", model, "hello")
	}
	h := w.Open("{}")
	defer w.Close(h)
	page, err := screen.NewSessions(w.App, h, w.App.Dir).List(t.Context(), picker.Query{}, "", 10)
	got := ids(page.Rows)
	if slices.Sort(got); err != nil || strings.Join(got, " ") != "two two-copy" {
		t.Errorf("%v, %v", got, err)
	}
}
