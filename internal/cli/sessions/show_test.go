package sessions_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

func TestShowGolden(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s1")
	w.OK("verify", "s1")
	w.Golden("show_text", w.OK("show", "s1"))
	w.Golden("show_messages_text", w.OK("show", "s1", "--messages"))
	var v any
	if err := json.Unmarshal([]byte(w.OK("show", "s1", "--json", "--messages")), &v); err != nil {
		t.Fatal(err)
	}
	pretty, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	w.Golden("show_json", string(pretty)+"\n")
}

// The field names of show --json are a contract.
func TestShowFieldNames(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	v := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]
	var got []string
	for k := range v {
		got = append(got, k)
	}
	slices.Sort(got)
	want := strings.Fields(`acts activity agent awaits budget config cost_usd created_at cwd directories env epoch facts failure files head id inbox
		holder labels lifecycle owner parent permissions plan scratch tasks title updated_at usage waiting`)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("fields %v\nwant   %v", got, want)
	}
	for _, list := range []string{"acts", "directories", "facts", "inbox", "plan", "tasks", "waiting"} {
		if _, ok := v[list].([]any); !ok {
			t.Errorf("%s is %v: want a list", list, v[list])
		}
	}
	if _, ok := clitest.Lines(t, w.OK("show", "s1", "--json", "--messages"))[0]["messages"].([]any); !ok {
		t.Error("messages of an empty conversation are no list")
	}
	if v["parent"] != nil || v["budget"] != nil {
		t.Errorf("parent %v, budget %v: want null", v["parent"], v["budget"])
	}
}

// What a state's bounds dropped is counted, and --all brings it back from the log.
func TestShowAllReadsTheLog(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	const files = 4100 // the state keeps 4,096
	bodies := make([]session.Body, files)
	for i := range bodies {
		bodies[i] = &session.FileSeen{File: session.File{Path: "/f/" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), Use: session.FileRead}}
	}
	w.Append("s1", store.Actor{Type: store.ActorTool}, bodies...)
	count := func(v map[string]any) int { return len(v["files"].(map[string]any)["read"].([]any)) }
	v := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]
	if count(v) != 4096 || v["truncated"].(map[string]any)["files"] != 4.0 {
		t.Errorf("%d files, truncated %v", count(v), v["truncated"])
	}
	if v = clitest.Lines(t, w.OK("show", "s1", "--json", "--all"))[0]; count(v) != files || v["truncated"] != nil {
		t.Errorf("--all: %d files, truncated %v", count(v), v["truncated"])
	}
	if out := w.OK("show", "s1"); !strings.Contains(out, "4 files: --all") {
		t.Errorf("text does not say what is left out:\n%s", out)
	}
}

// show --all of what was not truncated is show.
func TestShowAllEqualsShow(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s1")
	if a, b := w.OK("show", "s1", "--json"), w.OK("show", "s1", "--json", "--all"); a != b {
		t.Errorf("show\n%s--all\n%s", a, b)
	}
	w.OK("fork", "s1", "--id", "s2")
	a, b := w.OK("show", "s2", "--json"), w.OK("show", "s2", "--json", "--all")
	if a != b {
		t.Errorf("of a fork: show\n%s--all\n%s", a, b)
	}
}

func TestShowOfWhatIsNot(t *testing.T) {
	w := clitest.New(t)
	w.Create("session-one")
	w.Fails(4, "nearest: session-one", "show", "sesion-one")
	w.Fails(2, "want a session", "show")
	if out := w.OK("show", "session-"); !strings.HasPrefix(out, "session      session-one") {
		t.Errorf("by prefix: %s", out)
	}
}

// Nothing that a model or a command wrote reaches the terminal as a control sequence.
func TestTextIsSafe(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("s1")
	for _, args := range [][]string{{"show", "s1", "--messages"}, {"log", "s1"}, {"list"}, {"permissions", "list", "s1"}} {
		for _, r := range w.OK(args...) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%v prints %q", args, r)
			}
		}
	}
	if out := w.OK("show", "s1", "--json", "--messages"); !strings.Contains(out, `\u001b[31mred`) {
		t.Error("JSON does not keep what was written")
	}
}
