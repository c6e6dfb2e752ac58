package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/engine"
	"github.com/perdure/perdure/session"
)

// list shows every session once, page by page, and filters by what it shows.
func TestListFiltersAndPages(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"one", "two", "three"} {
		w.create(id)
		w.append(id, session.Actor{Type: session.ActorUser})
	}
	title := "my name"
	w.append("two", session.Actor{Type: session.ActorUser}, &session.Labelled{Title: &title, Labels: map[string]string{"team": "red"}})
	w.append("three", session.Actor{Type: session.ActorUser}, &session.LifecycleSet{To: session.LifecyclePaused})
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "three two one"},
		{"--lifecycle paused", "three"},
		{"--lifecycle open", "two one"},
		{"--activity idle", "three two one"},
		{"--activity waiting", ""},
		{"--label team=red", "two"},
		{"--label team=blue", ""},
		{"--cwd", "three two one"},
		{"--cwd " + w.dir, "three two one"},
		{"--cwd=/nowhere", ""},
		{"--cwd /nowhere", ""},
	} {
		var got []string
		for _, l := range lines(t, w.ok(append([]string{"list", "--json"}, strings.Fields(c.args)...)...)) {
			got = append(got, l["id"].(string))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("list %s: %v, want %s", c.args, got, c.want)
		}
	}
	var seen []string
	args := []string{"list", "--json", "--limit", "1"}
	for range 4 {
		o := w.run(args...)
		seen = append(seen, lines(t, o.stdout)[0]["id"].(string))
		_, after, more := strings.Cut(strings.TrimSpace(o.stderr), "--after ")
		if !more {
			break
		}
		args = []string{"list", "--json", "--limit", "1", "--after", after}
	}
	if strings.Join(seen, " ") != "three two one" {
		t.Errorf("pages show %v", seen)
	}
}

func TestListGolden(t *testing.T) {
	w := newWorld(t)
	w.create("one")
	w.append("one", session.Actor{Type: session.ActorUser})
	w.ok("fork", "one", "--id", "child")
	w.ok("rename", "child", "a child")
	w.golden("list_json", w.ok("list", "--json"))
	w.golden("list_text", w.ok("list"))
}

func TestListRefusesNonsense(t *testing.T) {
	w := newWorld(t)
	w.fails(2, "lifecycle", "list", "--lifecycle", "dead")
	w.fails(2, "activity", "list", "--activity", "busy")
	w.fails(2, "limit", "list", "--limit", "0")
	w.fails(2, "limit", "list", "--limit", "1001")
	w.fails(2, "label", "list", "--label", "red")
	w.fails(2, "cursor", "list", "--after", "nonsense")
	w.fails(2, "no arguments", "list", "this")
	w.fails(2, "unknown flag", "list", "--what")
	if o := w.run("list"); o.code != 0 || o.stdout != "" || !strings.Contains(o.stderr, "no sessions") {
		t.Errorf("an empty home: %+v", o)
	}
	if o := w.run("list", "--json"); o.code != 0 || o.stdout != "" {
		t.Errorf("an empty home in JSON: %+v", o)
	}
}

// A session whose holder was killed is listed as stored in JSON, and marked in text.
func TestListMarksTheInterrupted(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	h := w.open("{}")
	s, err := h.Open(t.Context(), "s1", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	user := session.Actor{Type: session.ActorUser}
	if err := s.Append(t.Context(), user, &session.MessageReceived{Content: []session.Part{session.TextPart("hi")}}); err != nil {
		t.Fatal(err)
	}
	// The heads are one append late.
	if err := s.Append(t.Context(), user, &session.TurnStarted{N: 1, Message: 3}); err != nil {
		t.Fatal(err)
	}
	l := lines(t, w.ok("list", "--json"))[0]
	if l["activity"] != "running" || l["holder"].(map[string]any)["alive"] != "alive" {
		t.Fatalf("held: %v", l)
	}
	if out := w.ok("list"); !strings.Contains(out, "running") {
		t.Errorf("held in text: %s", out)
	}
	if err := os.Remove(filepath.Join(w.home, "holders", l["holder"].(map[string]any)["id"].(string))); err != nil {
		t.Fatal(err)
	}
	l = lines(t, w.ok("list", "--json"))[0]
	if l["activity"] != "running" || l["holder"].(map[string]any)["alive"] != "dead" {
		t.Errorf("dead: %v", l)
	}
	if out := w.ok("list"); !strings.Contains(out, "interrupted") {
		t.Errorf("dead in text: %s", out)
	}
	if out := w.ok("show", "s1"); !strings.Contains(out, "running (interrupted)") {
		t.Errorf("dead in show: %s", out)
	}
}
