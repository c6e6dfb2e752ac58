package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// list shows every session once, page by page, and filters by what it shows.
func TestListFiltersAndPages(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"one", "two", "three"} {
		w.create(id)
		w.append(id, store.Actor{Type: store.ActorUser})
	}
	title := "my name"
	w.append("two", store.Actor{Type: store.ActorUser}, &session.Labelled{Title: &title, Labels: map[string]string{"team": "red"}})
	w.append("three", store.Actor{Type: store.ActorUser}, &session.LifecycleSet{To: session.LifecyclePaused})
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
	w.append("one", store.Actor{Type: store.ActorUser})
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

// What a session does is derived once, from its log and its holder: list, its filter, its JSON and show agree, also
// where the row is a step behind the log because its holder died.
func TestListMarksTheInterrupted(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	h := w.open("{}")
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
	if l["activity"] != "interrupted" || l["holder"].(map[string]any)["alive"] != "dead" {
		t.Errorf("dead: %v", l)
	}
	w.agree("s1", "interrupted")
}

// agree demands that everything that names a session's activity names this one.
func (w *world) agree(id, activity string) {
	w.t.Helper()
	for _, word := range homes.Activities() {
		found := strings.Contains(w.ok("list", "--json", "--activity", word), `"id":"`+id+`"`)
		if found != (word == activity) {
			w.t.Errorf("list --activity %s: found %v, the session is %s", word, found, activity)
		}
	}
	if out := w.ok("list"); !strings.Contains(out, activity) {
		w.t.Errorf("list: want %s\n%s", activity, out)
	}
	if out := w.ok("show", id, "--json"); !strings.Contains(out, `"activity":"`+activity+`"`) {
		w.t.Errorf("show --json: want %s\n%s", activity, out)
	}
	if out := w.ok("show", id); !strings.Contains(out, ", "+activity) {
		w.t.Errorf("show: want %s\n%s", activity, out)
	}
}

// Each activity is told apart, whatever brought a session there.
func TestActivities(t *testing.T) {
	w := newWorld(t)
	user := store.Actor{Type: store.ActorUser}
	message := func() session.Body {
		return &session.MessageReceived{Content: []model.Part{model.TextPart("hi")}}
	}
	w.create("s1")
	w.agree("s1", "idle")
	w.append("s1", user, message())
	w.agree("s1", "parked")
	w.append("s1", user, &session.LifecycleSet{To: session.LifecyclePaused})
	if out := w.ok("list"); !strings.Contains(out, "paused") {
		t.Errorf("list of a paused session: %s", out)
	}
	w.append("s1", user, &session.LifecycleSet{To: session.LifecycleOpen})
	steps := 1
	w.append("s1", user, &session.TurnStarted{N: 1, Message: 3})
	w.append("s1", user, &session.Configured{MaxSteps: &steps})
	w.agree("s1", "parked")
	asked := w.asked("s1", "t1.s1.b1.a1")
	w.agree("s1", "waiting")
	if out := w.ok("show", "s1"); !strings.Contains(out, "waits for you") || !strings.Contains(out, asked) || !strings.Contains(out, "2  green") {
		t.Errorf("the question is not in show:\n%s", out)
	}
	w.append("s1", user, &session.QuestionAnswered{Act: "t1.s1.b1.a1", Text: "red"})
	w.append("s1", store.Actor{Type: store.ActorEngine}, &session.ToolFinished{
		Act: "t1.s1.b1.a1", Outcome: session.OutcomeOK, Content: []model.Part{model.TextPart("red")},
	})
	w.agree("s1", "stopped")
}

// asked opens a step in which the model asks a question, and returns it.
func (w *world) asked(id, act string) string {
	w.t.Helper()
	h := w.open("{}")
	st, err := h.State(w.t.Context(), id)
	w.close(h)
	if err != nil {
		w.t.Fatal(err)
	}
	const question = "which colour is it?"
	input := []byte(`{"question":"` + question + `"}`)
	cost := int64(0)
	w.append(id, store.Actor{Type: store.ActorEngine},
		&session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: st.Epoch + 1, Model: "scripted/test", Through: st.Head.Seq, MaxTokens: 10},
		&session.ModelResponded{Act: "t1.s1.b0.a1", Model: "scripted/test", Provider: "scripted", Stop: model.StopToolUse, Cost: &cost, Blocks: []session.SealedBlock{
			{Type: model.BlockToolUse, ID: "tu1", Name: "AskUser", Raw: []byte(`{"type":"tool_use"}`), Input: input},
		}},
		&session.QuestionAsked{Act: act, Question: session.Question{Question: question, Options: []string{"red", "green"}}},
	)
	return question
}

// On a terminal a table shows the ends of ids, which differ when their beginnings do not, fits the width in cells, and
// what it shows leads to the session; in a pipe ids are whole.
func TestListFitsTheTerminal(t *testing.T) {
	w := newWorld(t)
	ids := []string{"01a200bb-be00-7366-bc58-639e3e950621", "01a200bb-be00-7366-bc58-639e3e950622"}
	for _, id := range ids[:2] {
		w.create(id)
		w.ok("rename", id, "日本語 "+strings.Repeat("a long name ", 12))
	}
	if out := w.ok("list"); !strings.Contains(out, ids[0]) {
		t.Errorf("a pipe: %s", out)
	}
	w.app.Screen, w.app.Size = true, func() (int, int) { return 80, 24 }
	out := w.ok("list")
	for line := range strings.Lines(out) {
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
	for _, short := range []string{"3e950621", "3e950622"} {
		if !strings.Contains(out, short) || strings.Contains(out, "01a200bb") {
			t.Fatalf("want short ids:\n%s", out)
		}
		if v := w.ok("show", short, "--json"); !strings.Contains(v, short+`"`) {
			t.Errorf("show %s: %s", short, v)
		}
	}
	w.fails(2, "part of more than one id", "show", "01a200bb")
	w.fails(4, "no session", "show", "621")
}

// A fork's name is its own: the parent's still leads to the parent.
func TestForkHasANameOfItsOwn(t *testing.T) {
	w := newWorld(t)
	w.create("one")
	w.ok("rename", "one", "parser")
	w.ok("fork", "parser", "--id", "two")
	w.ok("fork", "parser", "--id", "three")
	w.ok("fork", "parser", "--id", "four", "--name", "other")
	for name, id := range map[string]string{"parser": "one", "parser (fork)": "two", "parser (fork 2)": "three", "other": "four"} {
		if out := w.ok("show", name, "--json"); !strings.Contains(out, `"id":"`+id+`"`) {
			t.Errorf("%s leads to %.80s, want %s", name, out, id)
		}
	}
}
