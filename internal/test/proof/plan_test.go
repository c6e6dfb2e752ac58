package proof_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
)

// plan is one conversation: what the model says in each step, and what must come of it. It is made of a seed alone.
type plan struct {
	api    string
	prompt string
	dir    string // where the session works
	log    string // file to which every command appends when it begins and when it ends
	steps  []modeltest.Step
	expect []expectation     // one for each tool call, in order
	files  map[string]string // content at the end, by path
	marks  []string          // lines of the log, each of which must be there once
	stalls []string          // names of the steps' stalls
	cwd    string            // at the end
	env    map[string]string // exported, at the end
	todo   []string          // contents of the plan's steps at the end
	last   string            // the model's last words

	rng   *rand.Rand
	calls []modeltest.ToolCall // of the step being made
	n     int                  // commands made
	codes map[int]bool         // exit codes used, so that a wrong one cannot be right by accident
}

// expectation is what the result of a tool call must be.
type expectation struct {
	id      string // the provider's
	command bool
	code    int
	check   func(text string) error // nil: only the end is looked at
	task    bool                    // a look at the background task
	failed  bool
}

// newPlan makes the conversation of a seed. Both APIs get the same one, but for thinking.
func newPlan(api, id, dir string, rng *rand.Rand) *plan {
	p := &plan{
		api: api, prompt: "proof " + id + ": do what must be done.", dir: dir, log: filepath.Join(dir, "ran.log"), cwd: dir,
		files: map[string]string{}, env: map[string]string{}, rng: rng, codes: map[int]bool{0: true},
	}
	p.begin()
	p.background()
	p.look()
	p.edit()
	p.move()
	p.flood()
	p.end()
	return p
}

// step seals the calls made so far into one answer of the model.
func (p *plan) step(text string) {
	s := modeltest.Step{Text: text, Tools: p.calls, Usage: modeltest.Usage{
		Input: 100 + p.rng.Int64N(1000), Output: 10 + p.rng.Int64N(100),
		CacheRead: p.rng.Int64N(500), CacheWrite: p.rng.Int64N(50),
	}}
	if p.api == modeltest.Anthropic {
		s.Thinking = fmt.Sprintf("I think about step %d. It has \"quotes\", \u00fcnicode and\nlines.", len(p.steps))
		if p.rng.IntN(4) == 0 {
			s.Redacted = "b3BhcXVl"
		}
	} else {
		s.Usage.CacheWrite = 0
	}
	s.Faults = p.faults()
	p.steps, p.calls, p.last = append(p.steps, s), nil, text
}

// faults are what goes wrong with the first attempts. Not too often: each one costs a retry's delay.
func (p *plan) faults() []modeltest.Fault {
	stall := fmt.Sprintf("step%d", len(p.steps))
	switch p.rng.IntN(16) {
	case 0:
		return []modeltest.Fault{{Kind: modeltest.FaultStatus, Status: 429, Headers: map[string]string{"retry-after": "0"}}}
	case 1:
		return []modeltest.Fault{{Kind: modeltest.FaultStatus, Status: 529}}
	case 2:
		return []modeltest.Fault{{Kind: modeltest.FaultDisconnect, After: 1 + p.rng.IntN(5)}}
	case 3:
		return []modeltest.Fault{{Kind: modeltest.FaultDrip, DelayMS: 1}}
	case 4, 5, 6:
		p.stalls = append(p.stalls, stall)
		return []modeltest.Fault{{Kind: modeltest.FaultStall, After: 1 + p.rng.IntN(6), Name: stall}}
	}
	return nil
}

// call adds a tool call to the step being made.
func (p *plan) call(tool string, input map[string]any, e expectation) {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	e.id = fmt.Sprintf("call_%d_%d", len(p.steps), len(p.calls))
	p.expect = append(p.expect, e)
	// Odd spacing must come back as it was sent.
	text := strings.Replace(string(raw), `{"`, `{ "`, 1)
	p.calls = append(p.calls, modeltest.ToolCall{ID: e.id, Name: tool, InputText: text})
}

// bash adds a command that says in the log when it begins and ends, and prints what is expected before its end.
func (p *plan) bash(script, prints string, code int) {
	p.n++
	begin, end := fmt.Sprintf("begin-c%d", p.n), fmt.Sprintf("end-c%d", p.n)
	p.marks = append(p.marks, begin, end)
	ms := 50 + p.rng.IntN(350)
	full := fmt.Sprintf("echo %s >> %s\n%s\nsleep 0.%03d\necho %s >> %s\nexit %d", begin, p.log, script, ms, end, p.log, code)
	want := strings.TrimRight(prints, "\n")
	if want == "" {
		want = "(no output)"
	}
	if code != 0 {
		want += fmt.Sprintf("\nexit code %d", code)
	}
	p.call("Bash", map[string]any{"command": full, "description": "command " + begin}, expectation{
		command: true, code: code, failed: code != 0, check: equal(want),
	})
}

// code is an exit code that no other command of this conversation has.
func (p *plan) code() int {
	for {
		if c := 1 + p.rng.IntN(120); !p.codes[c] {
			p.codes[c] = true
			return c
		}
	}
}

func equal(want string) func(string) error {
	return func(got string) error {
		if got != want {
			return fmt.Errorf("is %q, not %q", clip(got), clip(want))
		}
		return nil
	}
}

func contains(want string) func(string) error {
	return func(got string) error {
		if !strings.Contains(got, want) {
			return fmt.Errorf("is %q, without %q", clip(got), want)
		}
		return nil
	}
}

// clip shortens a text for a report.
func clip(s string) string {
	if len(s) > 300 {
		return s[:150] + " … " + s[len(s)-150:]
	}
	return s
}

func (p *plan) path(name string) string { return filepath.Join(p.dir, name) }

func (p *plan) write(name, content string) {
	p.files[p.path(name)] = content
	p.call("Write", map[string]any{"file_path": p.path(name), "content": content}, expectation{})
}

func (p *plan) replace(name, before, after string) {
	p.files[p.path(name)] = strings.Replace(p.files[p.path(name)], before, after, 1)
	p.call("Edit", map[string]any{"file_path": p.path(name), "old_string": before, "new_string": after}, expectation{})
}

func (p *plan) todos(states ...string) {
	p.todo = nil
	list := make([]map[string]any, 0, len(states))
	for i, s := range states {
		content := fmt.Sprintf("part %d", i+1)
		p.todo = append(p.todo, content+" "+string(stepStatus[s]))
		list = append(list, map[string]any{"content": content, "activeForm": "doing " + content, "status": s})
	}
	p.call("TodoWrite", map[string]any{"todos": list}, expectation{})
}

var stepStatus = map[string]session.StepStatus{
	"pending": session.StepPlanned, "in_progress": session.StepExecuting, "completed": session.StepDone,
}

// begin writes files, changes the directory and exports a variable.
func (p *plan) begin() {
	p.todos("in_progress", "pending", "pending")
	p.write("notes.txt", fmt.Sprintf("first line\nsecret of the day: %d\nthird line\n", p.rng.Int64()))
	value := fmt.Sprintf("value %d", p.rng.IntN(1e6))
	p.env["PROOF_ONE"], p.cwd = value, p.path("sub")
	p.bash("mkdir -p sub && cd sub && export PROOF_ONE='"+value+"'\necho moved", "moved\n", 0)
	p.step("I begin.")
}

// background starts a task that prints for a while, and a command that fails.
func (p *plan) background() {
	p.call("Bash", map[string]any{
		"command":           "i=0; while [ $i -lt 1200 ]; do i=$((i+1)); echo tick-$i; sleep 0.05; done",
		"run_in_background": true,
	}, expectation{check: contains("running in background as bash_1 (pid ")})
	p.bash("echo out; echo err >&2", "out\nerr\n", p.code())
	p.step("I start a task and see something fail.")
}

// look reads in parallel, and checks what carried over.
func (p *plan) look() {
	notes := p.files[p.path("notes.txt")]
	p.call("Read", map[string]any{"file_path": p.path("notes.txt")}, expectation{check: contains(strings.Split(notes, "\n")[1])})
	p.call("Grep", map[string]any{"pattern": "secret of", "path": p.dir, "output_mode": "files_with_matches"}, expectation{check: contains("notes.txt")})
	p.bash(`pwd; echo "$PROOF_ONE"`, p.cwd+"\n"+p.env["PROOF_ONE"]+"\n", 0)
	p.call("BashOutput", map[string]any{"bash_id": "bash_1"}, expectation{task: true})
	p.step("I look around.")
}

// edit changes a file and runs a command with a longer output.
func (p *plan) edit() {
	p.replace("notes.txt", "third line", "line three")
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "row %d of command %d\n", i, p.n+1)
	}
	p.bash(fmt.Sprintf(`i=0; while [ $i -lt 300 ]; do echo "row $i of command %d"; i=$((i+1)); done`, p.n+1), b.String(), p.code())
	p.step("I edit.")
}

// move changes directory and environment again, in a command that fails.
func (p *plan) move() {
	p.write("second file.txt", "α head\n"+strings.Repeat("α lot of text\n", 50))
	p.env["PROOF_TWO"], p.cwd = "two\nlines", p.dir
	delete(p.env, "PROOF_ONE")
	p.bash("cd ..; unset PROOF_ONE; export PROOF_TWO='two\nlines'", "", p.code())
	p.call("BashOutput", map[string]any{"bash_id": "bash_1"}, expectation{task: true})
	p.bash(`pwd; echo "${PROOF_ONE-unset} $PROOF_TWO"`, p.cwd+"\nunset two\nlines\n", 0)
	p.step("I move on.")
}

// flood prints more than a result shows; the rest must be in a file that the result names.
func (p *plan) flood() {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "flood line %06d\n", i)
	}
	p.bash("seq -f 'flood line %06g' 0 3999", b.String(), p.code())
	e := &p.expect[len(p.expect)-1]
	e.check = func(got string) error {
		_, rest, found := strings.Cut(got, "the whole output: ")
		if !found || !strings.HasPrefix(got, "flood line 000000\n") || !strings.Contains(got, "flood line 003999\n") {
			return fmt.Errorf("is %q, which names no file with all of it", clip(got))
		}
		path := rest[:strings.IndexAny(rest, "]\n)")]
		full, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return equal(b.String())(string(full))
	}
	p.replace("second file.txt", "α head", "beta")
	p.step("I flood.")
}

// end finishes the plan.
func (p *plan) end() {
	p.todos("completed", "completed", "completed")
	p.call("BashOutput", map[string]any{"bash_id": "bash_1"}, expectation{task: true})
	p.bash("cat notes.txt", p.files[p.path("notes.txt")], 0)
	p.step("I finish.")
	p.step("All is done.")
}

// taskCall is the id of the call that starts the background task.
func (p *plan) taskCall() string {
	for _, s := range p.steps {
		for _, c := range s.Tools {
			if strings.Contains(c.InputText, "run_in_background") {
				return c.ID
			}
		}
	}
	return ""
}
