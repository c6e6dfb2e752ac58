package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// list shows every session once, page by page, and filters by what it shows.
func TestListFiltersAndPages(t *testing.T) {
	w := clitest.New(t)
	for _, id := range []string{"one", "two", "three"} {
		w.Create(id)
		w.Append(id, store.Actor{Type: store.ActorUser})
	}
	title := "my name"
	w.Append("two", store.Actor{Type: store.ActorUser}, &session.Labelled{Title: &title, Labels: map[string]string{"team": "red"}})
	w.Append("three", store.Actor{Type: store.ActorUser}, &session.LifecycleSet{To: session.LifecyclePaused})
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
		{"--cwd " + w.Dir, "three two one"},
		{"--cwd=/nowhere", ""},
		{"--cwd /nowhere", ""},
	} {
		var got []string
		for _, l := range clitest.Lines(t, w.OK(append([]string{"list", "--json"}, strings.Fields(c.args)...)...)) {
			got = append(got, l["id"].(string))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("list %s: %v, want %s", c.args, got, c.want)
		}
	}
	var seen []string
	args := []string{"list", "--json", "--limit", "1"}
	for range 4 {
		o := w.Run(args...)
		seen = append(seen, clitest.Lines(t, o.Stdout)[0]["id"].(string))
		_, after, more := strings.Cut(strings.TrimSpace(o.Stderr), "--after ")
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
	w := clitest.New(t)
	w.Create("one")
	w.Append("one", store.Actor{Type: store.ActorUser})
	w.OK("fork", "one", "--id", "child")
	w.OK("rename", "child", "a child")
	w.Golden("list_json", w.OK("list", "--json"))
	w.Golden("list_text", w.OK("list"))
}

func TestListRefusesNonsense(t *testing.T) {
	w := clitest.New(t)
	w.Fails(2, "lifecycle", "list", "--lifecycle", "dead")
	w.Fails(2, "activity", "list", "--activity", "busy")
	w.Fails(2, "limit", "list", "--limit", "0")
	w.Fails(2, "limit", "list", "--limit", "1001")
	w.Fails(2, "label", "list", "--label", "red")
	w.Fails(2, "cursor", "list", "--after", "nonsense")
	w.Fails(2, "no arguments", "list", "this")
	w.Fails(2, "unknown flag", "list", "--what")
	if o := w.Run("list"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "no sessions") {
		t.Errorf("an empty home: %+v", o)
	}
	if o := w.Run("list", "--json"); o.Code != 0 || o.Stdout != "" {
		t.Errorf("an empty home in JSON: %+v", o)
	}
}

// What a session does is derived once, from its log and its holder: list, its filter, its JSON and show agree, also
// where the row is a step behind the log because its holder died.
func TestListMarksTheInterrupted(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	h := w.Open("{}")
	s, err := h.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	user := store.Actor{Type: store.ActorUser}
	if _, err := s.Append(t.Context(), user, &session.MessageReceived{Content: []model.Part{model.TextPart("hi")}}); err != nil {
		t.Fatal(err)
	}
	// The heads are one append late.
	if _, err := s.Append(t.Context(), user, &session.TurnStarted{N: 1, Message: 3}); err != nil {
		t.Fatal(err)
	}
	l := clitest.Lines(t, w.OK("list", "--json"))[0]
	if l["activity"] != "running" || l["holder"].(map[string]any)["alive"] != "alive" {
		t.Fatalf("held: %v", l)
	}
	if out := w.OK("list"); !strings.Contains(out, "running") {
		t.Errorf("held in text: %s", out)
	}
	if err := os.Remove(filepath.Join(w.Home, "holders", l["holder"].(map[string]any)["id"].(string))); err != nil {
		t.Fatal(err)
	}
	l = clitest.Lines(t, w.OK("list", "--json"))[0]
	if l["activity"] != "interrupted" || l["holder"].(map[string]any)["alive"] != "dead" {
		t.Errorf("dead: %v", l)
	}
	agree(w, "s1", "interrupted")
}

// agree demands that everything that names a session's activity names this one.
func agree(w *clitest.World, id, activity string) {
	w.T.Helper()
	for _, word := range homes.Activities() {
		found := strings.Contains(w.OK("list", "--json", "--activity", word), `"id":"`+id+`"`)
		if found != (word == activity) {
			w.T.Errorf("list --activity %s: found %v, the session is %s", word, found, activity)
		}
	}
	if out := w.OK("list"); !strings.Contains(out, activity) {
		w.T.Errorf("list: want %s\n%s", activity, out)
	}
	if out := w.OK("show", id, "--json"); !strings.Contains(out, `"activity":"`+activity+`"`) {
		w.T.Errorf("show --json: want %s\n%s", activity, out)
	}
	if out := w.OK("show", id); !strings.Contains(out, ", "+activity) {
		w.T.Errorf("show: want %s\n%s", activity, out)
	}
}

// Each activity is told apart, whatever brought a session there.
func TestActivities(t *testing.T) {
	w := clitest.New(t)
	user := store.Actor{Type: store.ActorUser}
	message := func() session.Body {
		return &session.MessageReceived{Content: []model.Part{model.TextPart("hi")}}
	}
	w.Create("s1")
	agree(w, "s1", "idle")
	w.Append("s1", user, message())
	agree(w, "s1", "parked")
	w.Append("s1", user, &session.LifecycleSet{To: session.LifecyclePaused})
	if out := w.OK("list"); !strings.Contains(out, "paused") {
		t.Errorf("list of a paused session: %s", out)
	}
	w.Append("s1", user, &session.LifecycleSet{To: session.LifecycleOpen})
	steps := 1
	w.Append("s1", user, &session.TurnStarted{N: 1, Message: 3})
	w.Append("s1", user, &session.Configured{MaxSteps: &steps})
	agree(w, "s1", "parked")
	asked := w.Asked("s1", "t1.s1.b1.a1")
	agree(w, "s1", "waiting")
	if out := w.OK("show", "s1"); !strings.Contains(out, "waits for you") || !strings.Contains(out, asked) || !strings.Contains(out, "2  green") {
		t.Errorf("the question is not in show:\n%s", out)
	}
	w.Append("s1", user, &session.QuestionAnswered{Act: "t1.s1.b1.a1", Text: "red"})
	w.Append("s1", store.Actor{Type: store.ActorEngine}, &session.ToolFinished{
		Act: "t1.s1.b1.a1", Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart("red")},
	})
	agree(w, "s1", "stopped")
}

// On a terminal a table shows the ends of ids, which differ when their beginnings do not, fits the width in cells, and
// what it shows leads to the session; in a pipe ids are whole.
func TestListFitsTheTerminal(t *testing.T) {
	w := clitest.New(t)
	ids := []string{"01a200bb-be00-7366-bc58-639e3e950621", "01a200bb-be00-7366-bc58-639e3e950622"}
	for _, id := range ids[:2] {
		w.Create(id)
		w.OK("rename", id, "日本語 "+strings.Repeat("a long name ", 12))
	}
	if out := w.OK("list"); !strings.Contains(out, ids[0]) {
		t.Errorf("a pipe: %s", out)
	}
	w.App.Screen, w.App.Size = true, func() (int, int) { return 80, 24 }
	out := w.OK("list")
	for line := range strings.Lines(out) {
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
	for _, short := range []string{"3e950621", "3e950622"} {
		if !strings.Contains(out, short) || strings.Contains(out, "01a200bb") {
			t.Fatalf("want short ids:\n%s", out)
		}
		if v := w.OK("show", short, "--json"); !strings.Contains(v, short+`"`) {
			t.Errorf("show %s: %s", short, v)
		}
	}
	w.Fails(2, "part of more than one id", "show", "01a200bb")
	w.Fails(4, "no session", "show", "621")
}

// A fork's name is its own: the parent's still leads to the parent.
func TestForkHasANameOfItsOwn(t *testing.T) {
	w := clitest.New(t)
	w.Create("one")
	w.OK("rename", "one", "parser")
	w.OK("fork", "parser", "--id", "two")
	w.OK("fork", "parser", "--id", "three")
	w.OK("fork", "parser", "--id", "four", "--name", "other")
	w.OK("fork", "parser (fork)", "--id", "five") // a fork of a fork counts on
	w.OK("fork", "parser (fork 2)", "--id", "six")
	w.OK("rename", "four", "notes (fork and knife)")
	w.OK("fork", "four", "--id", "seven")
	for name, id := range map[string]string{
		"parser": "one", "parser (fork)": "two", "parser (fork 2)": "three", "parser (fork 3)": "five", "parser (fork 4)": "six",
		"notes (fork and knife) (fork)": "seven",
	} {
		if out := w.OK("show", name, "--json"); !strings.Contains(out, `"id":"`+id+`"`) {
			t.Errorf("%s leads to %.80s, want %s", name, out, id)
		}
	}
}
