package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// planned is a model that does one step of a plan with each of its two prompts, and says so in the plan.
const planned = `{"turns":[
 {"match":"first","steps":[{"tools":[
   {"name":"TodoWrite","input":{"todos":[{"content":"schema","status":"in_progress"}]}},
   {"name":"Bash","input":{"command":"echo 1 > f"}}]},{"text":"done"}]},
 {"match":"second","steps":[{"tools":[
   {"name":"TodoWrite","input":{"todos":[{"content":"schema","status":"completed"},{"content":"retry logic","status":"in_progress"}]}},
   {"name":"Bash","input":{"command":"echo 2 > f; echo new > new"}}]},{"text":"done"}]},
 {"match":"third","steps":[{"text":"looked"}]}]}`

// plan is the plan of a session, in words.
func (p *project) plan(id string) string {
	p.T.Helper()
	var got struct {
		Plan []struct{ Step, Status string } `json:"plan"`
	}
	out := p.OK("plan", id, "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		p.T.Fatalf("%v: %s", err, out)
	}
	var words []string
	for _, s := range got.Plan {
		words = append(words, s.Step+" "+s.Status)
	}
	return strings.Join(words, ", ")
}

// The plan was not rolled back together with the files: the next session did nothing, since its list said that all was
// done. Who goes back with files and conversation has the plan of that moment too, and the session that it was forked
// from its own.
func TestThePlanGoesBackWithTheFiles(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	m := p.Scripted(planned)
	p.run(m, "first")
	files, then := p.files(), p.plan("s")
	p.run(m, "second")
	now := p.plan("s")
	if then == now || then == "" {
		t.Fatalf("the plans are %q and %q", then, now)
	}
	p.OK("restore", "s", "turn 2", "--files", "--conversation", "--yes")
	p.same("the files of that moment", files)
	fork := p.forkOf("s")
	if got := p.plan(fork); got != then {
		t.Errorf("the fork's plan is %q, was %q then", got, then)
	}
	if got := p.plan("s"); got != now {
		t.Errorf("the plan of the session is %q, was %q", got, now)
	}
}

// Where the plan's file lies among the project's own, an undo of files takes nothing away that the session knows, and
// what it finds there afterwards is no wish of a person's: nobody has edited it.
func TestUndoMakesNoProposalOfThePlansFile(t *testing.T) {
	p := newProject(t)
	p.Configure("[knowledge]\nproject = \"on\"\n")
	p.write("f", "0\n")
	m := p.Scripted(planned)
	p.run(m, "first")
	p.run(m, "second")
	now := p.plan("s")
	file := filepath.Join(p.dir, ".agent", "state.json")
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "retry logic") {
		t.Fatalf("%s, %v", b, err)
	}
	p.OK("undo", "s", "--yes")
	if got := p.files()["f"]; !strings.HasSuffix(got, "1\n") {
		t.Errorf("f holds %q", got)
	}
	for _, prompt := range []string{"", "third"} {
		if prompt != "" {
			p.OK("-p", "-r", "s", "--dangerously-skip-permissions", "--model", m, prompt)
		}
		if got := p.plan("s"); got != now {
			t.Errorf("%q: the plan is %q, was %q", prompt, got, now)
		}
		if o := p.Run("plan", "diff", "s"); !strings.Contains(o.Stderr, "not changed by hand") {
			t.Errorf("%q: %s%s", prompt, o.Stdout, o.Stderr)
		}
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "retry logic") {
			t.Errorf("%q: %s, %v", prompt, b, err)
		}
	}
}

// forkOf is the one session besides another.
func (p *project) forkOf(id string) string {
	p.T.Helper()
	var found string
	for line := range strings.Lines(p.OK("list", "--json")) {
		var s struct{ ID string }
		if err := json.Unmarshal([]byte(line), &s); err == nil && s.ID != "" && s.ID != id {
			found = s.ID
		}
	}
	if found == "" {
		p.T.Fatal("there is no fork")
	}
	return found
}
