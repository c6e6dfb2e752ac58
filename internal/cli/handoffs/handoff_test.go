package handoffs_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/handoff"
	"github.com/perdure/perdure/internal/knowledge"
)

var written = time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)

// leave writes a session's handoff as the session would.
func leave(t *testing.T, w *clitest.World, shared bool, d handoff.Document) knowledge.WrittenHandoff {
	t.Helper()
	m, err := knowledge.Open(knowledge.Config{Home: w.Home, Dir: w.Dir, InProject: shared, Now: w.App.Now})
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Handoffs().Write(context.Background(), handoff.Render(d), "", knowledge.By{Session: d.Session, Seq: d.Seq})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func document(w *clitest.World, id string) handoff.Document {
	return handoff.Document{
		Session: id, Seq: 7, Written: written, Directory: w.Dir, Goal: "ship \x1b[2J\u202e it", NextStep: "edit src/kept.go:4",
		NotWorking: []string{"src/gone.go does not build"}, State: handoff.State{Changed: []string{filepath.Join(w.Dir, "src/changed.go")}},
	}
}

// Goal: a person sees the newest handoff with its age and with what of it is gone or changed, and finds the earlier ones.
func TestHandoffCommands(t *testing.T) {
	w := clitest.New(t)
	w.Configure("[knowledge]\nproject = \"on\"\n")
	w.Fails(4, "no handoff lies here", "handoff", "show")
	if o := w.Run("handoff", "list"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "no handoff lies here") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(w.Home); err == nil {
		t.Error("a look made the home")
	}
	for name, when := range map[string]time.Time{"kept.go": written.Add(-time.Hour), "changed.go": written.Add(time.Hour)} {
		at := filepath.Join(w.Dir, "src", name)
		clitest.WriteFile(t, at, "x")
		if err := os.Chtimes(at, when, when); err != nil {
			t.Fatal(err)
		}
	}
	leave(t, w, true, document(w, "s-1"))
	clitest.WriteFile(t, filepath.Join(w.Dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	digest := regexp.MustCompile(`digest=[0-9a-f]{16}`) // of a text that names the directory
	w.Golden("show", digest.ReplaceAllString(w.OK("handoff", "show"), "digest=<digest>"))
	w.Golden("show_json", digest.ReplaceAllString(w.OK("handoff", "show", "--json"), "digest=<digest>"))
	m, err := knowledge.Open(knowledge.Config{Home: w.Home, Dir: w.Dir, InProject: true, Now: w.App.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Handoffs().Archive(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.Fails(4, "perdure handoff list", "handoff", "show")
	d := document(w, "s-2")
	d.Written = written.Add(time.Hour)
	leave(t, w, true, d)
	w.Golden("list", w.OK("handoff", "list"))
	w.Golden("list_json", w.OK("handoff", "list", "--json"))
	below := filepath.Join(w.Dir, "src")
	if out := w.OK("handoff", "show", "--cwd", below); !strings.Contains(out, "Session s-2 at 7") {
		t.Errorf("from below the project: %s", out)
	}
	w.Fails(2, "no directory", "handoff", "show", "--cwd", filepath.Join(w.Dir, "nothing"))
	w.Fails(2, "needs one of: show, list", "handoff")
}

// Goal: the handoff of one session is found by its id, where the session worked, in the history too.
func TestHandoffOfASession(t *testing.T) {
	w := clitest.New(t)
	for _, id := range []string{"alpha", "beta"} {
		w.Create(id)
	}
	w.Fails(4, `session alpha has left no handoff`, "handoff", "show", "alpha")
	w.Fails(4, `no session "gamma"`, "handoff", "show", "gamma")
	leave(t, w, false, document(w, "alpha"))
	d := document(w, "beta")
	d.Written = written.Add(time.Hour)
	leave(t, w, false, d)
	dir := t.TempDir()
	for _, id := range []string{"alpha", "beta"} {
		if out := w.OK("handoff", "show", id); !strings.Contains(out, "Session "+id+" at 7") {
			t.Errorf("%s: %s", id, out)
		}
		w.App.Dir = dir
		if out := w.OK("handoff", "show", "--json", id[:4]); !strings.Contains(out, `"session_id":"`+id+`"`) {
			t.Errorf("%s, from elsewhere: %s", id, out)
		}
		w.App.Dir = w.Dir
	}
	o := w.Run("handoff", "show")
	if o.Code != 0 || !strings.Contains(o.Stdout, "Session beta") || !strings.Contains(o.Stderr, "another one lies in ") {
		t.Errorf("%+v", o)
	}
}

// What a model, a tool or a file wrote into a handoff does not control the terminal that shows it.
func TestHandoffIsShownAsText(t *testing.T) {
	w := clitest.New(t)
	at := filepath.Join(w.Dir, "HANDOFF.md")
	clitest.WriteFile(t, at, "# By hand\n\n## Goal\nbad \x1b[2J\u202e text\n")
	for _, args := range [][]string{{"show"}, {"list"}, {"show", "--json"}, {"list", "--json"}} {
		if o := w.Run(append([]string{"handoff"}, args...)...); o.Code != 0 || strings.ContainsAny(o.Stdout+o.Stderr, "\x1b\u202e") || !strings.Contains(o.Stdout, "HANDOFF.md") && args[0] == "list" {
			t.Errorf("%v: %+v", args, o)
		}
	}
	clitest.WriteFile(t, at, "no \x00 text")
	if o := w.Run("handoff", "show"); o.Code != 1 || !strings.Contains(o.Stderr, "it is no text") {
		t.Errorf("%+v", o)
	}
}

// A session's own commands may look at handoffs, and a session that looks is not asked for it.
func TestHandoffMayBeShownInside(t *testing.T) {
	w := clitest.New(t)
	leave(t, w, false, document(w, "s-1"))
	w.App.Environ = append(w.App.Environ, "PERDURE_SESSION_ID=s-2")
	w.OK("handoff", "show")
	w.OK("handoff", "list")
}
