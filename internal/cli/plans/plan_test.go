package plans_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
	"github.com/perdure/perdure/store"
)

var agent = store.Actor{Type: store.ActorModel, ID: "m"}

// planned is a home with a session that has a plan of three steps and a failed approach.
func planned(t *testing.T) *clitest.World {
	w := clitest.New(t)
	w.Create("build")
	w.Append("build", agent, &session.PlanSet{Steps: []session.Step{
		{Content: "look", Status: session.StepDone, Output: "notes.md"}, {Content: "act", Status: session.StepExecuting}, {Content: "rest", Status: session.StepPlanned},
	}}, &session.FactAdded{Fact: session.Fact{Kind: "failed_approach", Text: "by hand", Reason: "too slow", Provenance: "model"}})
	return w
}

// state is a session's state.
func state(w *clitest.World, id string) *session.State {
	w.T.Helper()
	h := w.Open("{}")
	defer w.Close(h)
	st, err := h.State(w.T.Context(), id)
	if err != nil {
		w.T.Fatal(err)
	}
	return st
}

func planOf(w *clitest.World) string {
	w.T.Helper()
	st := state(w, "build")
	if len(st.Faults) > 0 {
		w.T.Errorf("faults %v", st.Faults)
	}
	return session.PlanText(st.Plan)
}

// saved writes the state file of a session, as the engine does, and gives its path.
func saved(w *clitest.World) string {
	w.T.Helper()
	cfg := knowledge.Config{Home: w.Home, Dir: w.Dir, InProject: true, Now: w.App.Now}
	w.Configure("[knowledge]\nproject = \"on\"\n")
	if written, err := workflow.Save(cfg, state(w, "build")); err != nil || !written {
		w.T.Fatal(written, err)
	}
	return filepath.Join(knowledge.Root(w.Dir), ".agent", "state.json")
}

func edited(t *testing.T, file, old, now string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), old) {
		t.Fatalf("%v: %q is not in\n%s", err, old, b)
	}
	clitest.WriteFile(t, file, strings.Replace(string(b), old, now, 1))
}

// Goal: a person sees the plan, what is known, and what happened outside; as text and as JSON, and no text of a session
// controls the terminal.
func TestPlanIsShown(t *testing.T) {
	w := planned(t)
	w.Golden("plan", w.OK("plan", "build"))
	if text := w.OK("plan"); !strings.HasPrefix(text, "build\n") {
		t.Errorf("without an id: %s", text)
	}
	w.Eventful("e")
	text := w.OK("plan", "e")
	w.Golden("plan_eventful", text)
	w.Golden("plan_json", w.OK("plan", "e", "--json"))
	if strings.ContainsAny(text, "\x1b\a") {
		t.Errorf("%q", text)
	}
	w.Fails(4, "no session", "plan", "nothing")
	w.Fails(2, "want a session", "plan", "build", "nonsense")
}

// Goal: a person changes the plan by a command, with the verb before the session or behind it.
func TestPlanIsChanged(t *testing.T) {
	w := planned(t)
	w.OK("plan", "build", "set", "2", "blocked", "--blocker", "the key", "--reason", "nobody has it")
	w.OK("plan", "set", "build", "1", "completed", "--output", "")
	w.OK("plan", "build", "add", "- load test", "--at", "3")
	w.OK("plan", "build", "remove", "4")
	if got, want := planOf(w), "1. [done] look\n2. [blocked] act; blocked by: the key; because: nobody has it\n3. [planned] - load test"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	w.OK("plan", "build", "set", "2", "done")
	if strings.Contains(planOf(w), "the key") {
		t.Error("a step that is done waits for something")
	}
	if o := w.Run("plan", "build", "set", "2", "done"); o.Code != 0 || !strings.Contains(o.Stderr, "so already") {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct {
		words string
		args  []string
	}{
		{"no status wip: want planned, awaiting_approval", []string{"build", "set", "2", "wip"}},
		{"a number from 1 to 3", []string{"build", "set", "9", "done"}},
		{"a number from 1 to 3", []string{"build", "remove", "x"}},
		{"a number from 1 to 4", []string{"build", "add", "x", "--at", "9"}},
		{"cannot be empty", []string{"build", "add", " "}},
		{"at most 2000", []string{"build", "add", strings.Repeat("x", 2001)}},
	} {
		w.Fails(2, c.words, append([]string{"plan"}, c.args...)...)
	}
	w.Append("build", agent, &session.PlanSet{})
	w.Fails(4, "has no steps", "plan", "build", "set", "1", "done")
	if out := w.OK("log", "build"); !strings.Contains(out, "plan.edited") {
		t.Errorf("log: %s", out)
	}
}

// Goal: the plan is changed in an editor; what the agent does while the editor is open stays.
func TestPlanInAnEditor(t *testing.T) {
	w := planned(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	w.Fails(2, "no editor", "plan", "build", "edit")
	script := filepath.Join(t.TempDir(), "editor")
	use := func(text string) {
		clitest.WriteFile(t, script, "#!/bin/sh\n"+text)
		if err := os.Chmod(script, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.App.Environ = append(w.App.Environ, "EDITOR=sh "+script)
	use(`sed -i -e 's/^- \[ \] rest/- [!] rest well/' "$1"; printf -- '  - blocker: sleep\n- [ ] more\n' >> "$1"`)
	w.OK("plan", "build", "edit")
	if got, want := planOf(w), "1. [done] look; output: notes.md\n2. [executing] act\n3. [blocked] rest well; blocked by: sleep\n4. [planned] more"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	before := planOf(w)
	use("exit 3")
	w.Fails(1, "the editor ended with", "plan", "build", "edit")
	use(`: > "$1"`)
	if o := w.Run("plan", "build", "edit"); o.Code != 0 || !strings.Contains(o.Stderr, "stays as it is") {
		t.Errorf("%+v", o)
	}
	use(`echo words > "$1"`)
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	w.Fails(2, "no step is left", "plan", "build", "edit")
	if left, err := filepath.Glob(filepath.Join(tmp, "*.md")); err != nil || len(left) != 1 {
		t.Errorf("what was written and not taken is not kept: %v, %v", left, err)
	}
	if planOf(w) != before {
		t.Errorf("%s", planOf(w))
	}
}

// Goal: what a person writes into state.json is shown, and taken or refused; nothing else happens to it.
func TestProposals(t *testing.T) {
	w := planned(t)
	file := saved(w)
	w.Fails(1, "was not changed by hand", "plan", "accept")
	if o := w.Run("plan", "diff"); o.Code != 0 || !strings.Contains(o.Stderr, "was not changed") {
		t.Errorf("%+v", o)
	}
	edited(t, file, `"step": "rest"`, `"owner": "ann", "step": "rest \u202e\u001b[2J"`)
	edited(t, file, `"findings": []`, `"findings": ["it is so"]`)
	w.Append("build", agent, &session.PlanSet{Steps: []session.Step{
		{Content: "look", Status: session.StepDone, Output: "notes.md"}, {Content: "act", Status: session.StepDone}, {Content: "rest", Status: session.StepExecuting},
	}})
	out := w.OK("plan", "diff", "build")
	if !strings.Contains(out, "- 3. [executing] rest\n+ 3. [executing] rest ") || !strings.Contains(out, "+ finding: it is so") || strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("diff:\n%q", out)
	}
	var d struct {
		Changes []session.StepChange
		Noted   []session.Fact
	}
	if err := json.Unmarshal([]byte(w.OK("plan", "diff", "--json")), &d); err != nil || len(d.Changes) != 1 || len(d.Noted) != 1 {
		t.Errorf("%v, %+v", err, d)
	}
	if o := w.Run("plan", "build"); !strings.Contains(o.Stderr, "was changed by hand") {
		t.Errorf("%+v", o)
	}
	w.OK("plan", "build", "set", "1", "done", "--reason", "seen")
	if b, _ := os.ReadFile(file); !strings.Contains(string(b), "ann") || strings.Contains(string(b), "seen") {
		t.Errorf("the file was written over:\n%s", b)
	}
	w.OK("plan", "accept")
	st := state(w, "build")
	if st.Plan[2].Status != session.StepExecuting || !strings.HasPrefix(st.Plan[2].Content, "rest ") || len(st.Facts) != 2 || st.Facts[1].Provenance != "user" {
		t.Errorf("%+v, %+v", st.Plan, st.Facts)
	}
	if b, _ := os.ReadFile(file); !strings.Contains(string(b), `"owner": "ann"`) || !strings.Contains(string(b), "seen") {
		t.Errorf("the file is not up to date:\n%s", b)
	}
	w.Fails(1, "was not changed by hand", "plan", "accept", "build")
	edited(t, file, `"step": "look"`, `"step": "look away"`)
	w.OK("plan", "refuse")
	if b, _ := os.ReadFile(file); strings.Contains(string(b), "away") || !strings.HasPrefix(state(w, "build").Plan[0].Content, "look") {
		t.Errorf("refused:\n%s", b)
	}
	if b, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "refused-state.json")); !strings.Contains(string(b), "away") {
		t.Errorf("what was refused is gone: %s", b)
	}
	clitest.WriteFile(t, file, "{ torn")
	w.Fails(1, "state.json", "plan", "diff", "build")
	if out := w.OK("plan", "build"); !strings.Contains(out, "look") {
		t.Errorf("a torn file hides the plan: %s", out)
	}
}

// Goal: a state file that an edit has broken can be refused like any other edit, also without naming the session: its text
// is kept, and the file says again what the session says.
func TestRefusingABrokenStateFile(t *testing.T) {
	for _, args := range [][]string{{"plan", "refuse"}, {"plan", "refuse", "build"}} {
		w := planned(t)
		file := saved(w)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w.Create("newer") // not the one that the file is of
		broken := strings.Replace(string(good), ",", ", torn", 1)
		clitest.WriteFile(t, file, broken)
		o := w.Fails(1, "state.json", "plan", "accept", "build")
		if !strings.Contains(o.Stderr, "perdure plan refuse") {
			t.Errorf("the way back is not named: %s", o.Stderr)
		}
		w.OK(args...)
		if b, err := os.ReadFile(file); err != nil || string(b) != string(good) {
			t.Errorf("%v: %v\n%s\nwant\n%s", args, err, b, good)
		}
		if b, err := os.ReadFile(filepath.Join(filepath.Dir(file), "refused-state.json")); err != nil || string(b) != broken {
			t.Errorf("%v: what was refused is gone: %v %s", args, err, b)
		}
		w.OK("plan", "diff", "build")
	}
}

// Goal: a session's own commands look at the plan, and do not change it.
func TestPlanInsideOfASession(t *testing.T) {
	w := planned(t)
	w.App.Environ = append(w.App.Environ, "PERDURE_SESSION_ID=build", "EDITOR=true")
	w.OK("plan", "build")
	w.OK("plan", "diff", "build")
	for _, args := range [][]string{
		{"plan", "build", "set", "1", "done"},
		{"plan", "set", "build", "1", "done"},
		{"plan", "add", "build", "x"},
		{"plan", "remove", "build", "1"},
		{"plan", "build", "edit"},
		{"plan", "accept", "build"},
		{"plan", "refuse"},
	} {
		w.Fails(1, "is for a human", args...)
	}
}

// Goal: a change of the plan is taken while another process holds the session, and made again for what the agent changed
// just before.
func TestPlanOfAHeldSession(t *testing.T) {
	w := planned(t)
	h := w.Open("{}")
	defer w.Close(h)
	s, err := h.Hold(t.Context(), "build", homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.OK("plan", "build", "set", "2", "failed", "--reason", "no way")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5 {
			w.Run("plan", "build", "add", "one more")
		}
	}()
	for range 5 {
		w.OK("plan", "build", "add", "another")
	}
	<-done
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	text := planOf(w)
	if !strings.Contains(text, "2. [failed] act; because: no way") || strings.Count(text, "another") != 5 || strings.Count(text, "one more") != 5 {
		t.Errorf("the plan is\n%s", text)
	}
}
