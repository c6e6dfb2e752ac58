package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// eventful writes a log in which a bit of everything happened, without running anything.
func (w *world) eventful(id string) {
	w.t.Helper()
	w.create(id)
	user, tool, engineActor := store.Actor{Type: store.ActorUser, ID: "tester"}, store.Actor{Type: store.ActorTool, ID: "Bash"}, store.Actor{Type: store.ActorEngine}
	text := func(s string) []model.Part { return []model.Part{model.TextPart(s)} }
	w.append(id, user, &session.MessageReceived{Key: "k1", Content: append(text("go \x1b[31mred"), model.Part{Type: model.BlockImage, Media: "image/png", Data: []byte{0x89, 'P'}})})
	w.append(id, engineActor, &session.TurnStarted{N: 1, Message: 3})
	h := w.open("{}")
	st, err := h.State(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	epoch := st.Epoch + 1 // of the append below
	w.close(h)
	cost := int64(1_500_000)
	value, gone := "1", (*string)(nil)
	code := 3
	call := &session.Call{Tool: "Bash", Input: []byte(`{"command":"false & <b>"}`)}
	bound := st.Binding(call)
	w.append(id, engineActor,
		&session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: epoch, Model: "scripted/test", Through: 6, MaxTokens: 100, Estimate: 50},
		&session.ModelResponded{
			Act: "t1.s1.b0.a1", Model: "scripted/test", Provider: "scripted", Stop: model.StopToolUse, Cost: &cost,
			Usage: model.Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40},
			Blocks: []session.SealedBlock{
				{Type: model.BlockThinking, Raw: []byte(`{"type":"thinking","signature":"<&>"}`)},
				{Type: model.BlockText, Text: true, Raw: []byte(`{ "type":"text","text":"hi"}`), Shown: []byte("hi")},
				{Type: model.BlockToolUse, ID: "tu1", Name: "Bash", Raw: []byte(`{"type":"tool_use"}`), Input: call.Input},
			},
		},
		&session.ToolDecided{Act: "t1.s1.b3.a1", Effect: session.EffectProcess, Decision: session.Decision{Allow: true, Rule: "Bash(false)", Bound: bound, Epoch: epoch}},
		&session.ToolStarted{Act: "t1.s1.b3.a1", Start: session.Start{Epoch: epoch, Command: "false"}},
		&session.ToolFinished{
			Act: "t1.s1.b3.a1", Outcome: session.OutcomeError, ExitCode: &code, Cwd: "/elsewhere", Env: session.EnvDelta{"A": &value, "B": gone},
			Content: append(text("exit code 3\n"), model.Part{Type: model.BlockText, Data: []byte{0xff, 'x'}}),
		},
		&session.FileSeen{File: session.File{Path: "/f/read", Use: session.FileRead, Digest: store.Sum([]byte("r")), Mode: 0o644, Size: 1}},
		&session.FileSeen{File: session.File{Path: "/f/made", Use: session.FileCreated, Digest: store.Sum([]byte("c")), Mode: 0o600, Size: 2}},
		&session.FileSeen{File: session.File{Path: "/f/edit", Use: session.FileModified, Digest: store.Sum([]byte("m")), Mode: 0o755, Size: 3}},
		&session.PlanSet{Steps: []session.Step{{Content: "look \x1b]0;evil\a", Status: session.StepDone}, {Content: "act", ActiveForm: "acting", Status: session.StepPlanned}}},
		&session.FactAdded{Fact: session.Fact{Kind: "finding", Text: "it is so", Provenance: "tool"}},
		&session.StateSet{Key: "json", Value: []byte(`{"n": 1}`)},
		&session.StateSet{Key: "text", Value: []byte("not json")},
		&session.StateSet{Key: "bytes", Value: []byte{0xff}},
		&session.PermissionGranted{Rule: "Bash(git:*)", Scope: "session"},
	)
	w.append(id, tool, &session.App{Namespace: "adk", Data: []byte("plain")}, &session.App{Namespace: "adk", Data: []byte{0, 0xff}})
	w.append(id, user, &session.MessageReceived{Key: "k2", Content: text("later")})
}

func TestShowGolden(t *testing.T) {
	w := newWorld(t)
	w.eventful("s1")
	w.ok("verify", "s1")
	w.golden("show_text", w.ok("show", "s1"))
	w.golden("show_messages_text", w.ok("show", "s1", "--messages"))
	var v any
	if err := json.Unmarshal([]byte(w.ok("show", "s1", "--json", "--messages")), &v); err != nil {
		t.Fatal(err)
	}
	pretty, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	w.golden("show_json", string(pretty)+"\n")
}

// The field names of show --json are a contract.
func TestShowFieldNames(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	v := lines(t, w.ok("show", "s1", "--json"))[0]
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
	if _, ok := lines(t, w.ok("show", "s1", "--json", "--messages"))[0]["messages"].([]any); !ok {
		t.Error("messages of an empty conversation are no list")
	}
	if v["parent"] != nil || v["budget"] != nil {
		t.Errorf("parent %v, budget %v: want null", v["parent"], v["budget"])
	}
}

// What a state's bounds dropped is counted, and --all brings it back from the log.
func TestShowAllReadsTheLog(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	const files = 4100 // the state keeps 4,096
	bodies := make([]session.Body, files)
	for i := range bodies {
		bodies[i] = &session.FileSeen{File: session.File{Path: "/f/" + string(rune('a'+i%26)) + strings.Repeat("x", i/26), Use: session.FileRead}}
	}
	w.append("s1", store.Actor{Type: store.ActorTool}, bodies...)
	count := func(v map[string]any) int { return len(v["files"].(map[string]any)["read"].([]any)) }
	v := lines(t, w.ok("show", "s1", "--json"))[0]
	if count(v) != 4096 || v["truncated"].(map[string]any)["files"] != 4.0 {
		t.Errorf("%d files, truncated %v", count(v), v["truncated"])
	}
	if v = lines(t, w.ok("show", "s1", "--json", "--all"))[0]; count(v) != files || v["truncated"] != nil {
		t.Errorf("--all: %d files, truncated %v", count(v), v["truncated"])
	}
	if out := w.ok("show", "s1"); !strings.Contains(out, "4 files: --all") {
		t.Errorf("text does not say what is left out:\n%s", out)
	}
}

// show --all of what was not truncated is show.
func TestShowAllEqualsShow(t *testing.T) {
	w := newWorld(t)
	w.eventful("s1")
	if a, b := w.ok("show", "s1", "--json"), w.ok("show", "s1", "--json", "--all"); a != b {
		t.Errorf("show\n%s--all\n%s", a, b)
	}
	w.ok("fork", "s1", "--id", "s2")
	a, b := w.ok("show", "s2", "--json"), w.ok("show", "s2", "--json", "--all")
	if a != b {
		t.Errorf("of a fork: show\n%s--all\n%s", a, b)
	}
}

func TestShowOfWhatIsNot(t *testing.T) {
	w := newWorld(t)
	w.create("session-one")
	w.fails(4, "nearest: session-one", "show", "sesion-one")
	w.fails(2, "want a session", "show")
	if out := w.ok("show", "session-"); !strings.HasPrefix(out, "session      session-one") {
		t.Errorf("by prefix: %s", out)
	}
}

// Nothing that a model or a command wrote reaches the terminal as a control sequence.
func TestTextIsSafe(t *testing.T) {
	w := newWorld(t)
	w.eventful("s1")
	for _, args := range [][]string{{"show", "s1", "--messages"}, {"log", "s1"}, {"list"}, {"permissions", "list", "s1"}} {
		for _, r := range w.ok(args...) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%v prints %q", args, r)
			}
		}
	}
	if out := w.ok("show", "s1", "--json", "--messages"); !strings.Contains(out, `\u001b[31mred`) {
		t.Error("JSON does not keep what was written")
	}
}
