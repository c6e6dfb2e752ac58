package clitest

import (
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Eventful writes a log in which a bit of everything happened, without running anything.
func (w *World) Eventful(id string) {
	w.T.Helper()
	w.Create(id)
	user, tool, engineActor := store.Actor{Type: store.ActorUser, ID: "tester"}, store.Actor{Type: store.ActorTool, ID: "Bash"}, store.Actor{Type: store.ActorEngine}
	text := func(s string) []model.Part { return []model.Part{model.TextPart(s)} }
	w.Append(id, user, &session.MessageReceived{Key: "k1", Content: append(text("go \x1b[31mred"), model.Part{Type: model.BlockImage, Media: "image/png", Data: []byte{0x89, 'P'}})})
	w.Append(id, engineActor, &session.TurnStarted{N: 1, Message: 3})
	h := w.Open("{}")
	st, err := h.State(w.T.Context(), id)
	if err != nil {
		w.T.Fatal(err)
	}
	epoch := st.Epoch + 1 // of the append below
	w.Close(h)
	cost := int64(1_500_000)
	value, gone := "1", (*string)(nil)
	code := 3
	call := &session.Call{Tool: "Bash", Input: []byte(`{"command":"false & <b>"}`)}
	bound := st.Binding(call)
	w.Append(id, engineActor,
		&session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: epoch, Model: "scripted/test", Through: 6, MaxTokens: 100, Estimate: 50},
		&session.ModelResponded{
			Act: "t1.s1.b0.a1", Model: "scripted/test", Provider: "scripted", Stop: modelapi.StopToolUse, Cost: &cost,
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
			Act: "t1.s1.b3.a1", Outcome: session.OutcomeError, ExitCode: &code, Cwd: "/elsewhere", Env: command.EnvDelta{"A": &value, "B": gone},
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
	w.Append(id, tool, &session.App{Namespace: "adk", Data: []byte("plain")}, &session.App{Namespace: "adk", Data: []byte{0, 0xff}})
	w.Append(id, user, &session.MessageReceived{Key: "k2", Content: text("later")})
}

// Asked opens a step in which the model asks a question, and returns it.
func (w *World) Asked(id, act string) string {
	w.T.Helper()
	h := w.Open("{}")
	st, err := h.State(w.T.Context(), id)
	w.Close(h)
	if err != nil {
		w.T.Fatal(err)
	}
	const question = "which colour is it?"
	input := []byte(`{"question":"` + question + `"}`)
	cost := int64(0)
	w.Append(id, store.Actor{Type: store.ActorEngine},
		&session.ModelRequested{Act: "t1.s1.b0.a1", Turn: 1, Step: 1, Attempt: 1, Epoch: st.Epoch + 1, Model: "scripted/test", Through: st.Head.Seq, MaxTokens: 10},
		&session.ModelResponded{Act: "t1.s1.b0.a1", Model: "scripted/test", Provider: "scripted", Stop: modelapi.StopToolUse, Cost: &cost, Blocks: []session.SealedBlock{
			{Type: model.BlockToolUse, ID: "tu1", Name: "AskUser", Raw: []byte(`{"type":"tool_use"}`), Input: input},
		}},
		&session.QuestionAsked{Act: act, Question: session.Question{Question: question, Options: []string{"red", "green"}}},
	)
	return question
}

// CreateEmpty makes a session as only another user of the store can.
func (w *World) CreateEmpty(id string) {
	w.T.Helper()
	h := w.Open("{}")
	defer w.Close(h)
	if err := h.Store().Create(w.T.Context(), store.NewSession{ID: id, Created: testNow.UnixMilli()}); err != nil {
		w.T.Fatal(err)
	}
}

// Waits runs a prompt by the command, with a script of the model, and expects that it waits.
func (w *World) Waits(id, script string, args ...string) string {
	w.T.Helper()
	return w.Fails(3, "waits for you", append([]string{"-p", "--session-id", id, "--model", w.Scripted(script), "go"}, args...)...).Stderr
}

// Several is a script whose turn "go" makes two files.
const Several = `{"turns":[{"match":"go","steps":[{"tools":[
	{"name":"Bash","input":{"command":"touch one"}},{"name":"Bash","input":{"command":"touch two"}}]},{"text":"Both are made."}]}]}`

// Prompts are the texts of the user's messages in a session.
func (w *World) Prompts(id string) (out []string) {
	w.T.Helper()
	for _, l := range Lines(w.T, w.OK("log", id, "--json")) {
		if l["kind"] == "message.received" {
			out = append(out, l["body"].(map[string]any)["content"].([]any)[0].(map[string]any)["text"].(string))
		}
	}
	return out
}

// WaitsTwice is a script whose turn "both" waits for an approval, and then for the answer to a question.
const WaitsTwice = `{"turns":[
 {"match":"both","steps":[
  {"text":"I try.","tools":[{"name":"Bash","input":{"command":"touch made"}}]},
  {"text":"I ask.","tools":[{"name":"AskUser","input":{"question":"Which?","options":["red","green"]}}]},
  {"text":"It is done."}]},
 {"match":"more","steps":[{"text":"More."}]}]}`

// ChecksOf are doctor's checks by name, the worst level of each.
func (w *World) ChecksOf(code int) (map[string]string, map[string]any) {
	w.T.Helper()
	o := w.Run("doctor", "--json")
	if o.Code != code {
		w.T.Fatalf("doctor: exit %d, want %d\n%s%s", o.Code, code, o.Stdout, o.Stderr)
	}
	d := Lines(w.T, o.Stdout)[0]
	levels := map[string]string{}
	for _, c := range d["checks"].([]any) {
		c := c.(map[string]any)
		if name := c["name"].(string); levels[name] == "" || levels[name] == "ok" || c["level"] == "fail" {
			levels[name] = c["level"].(string)
		}
	}
	return levels, d
}
