package run_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
)

// relay is a directory in which processes of the command work one after the other, with the project's consent.
type relay struct{ *clitest.World }

func newRelay(t *testing.T) relay {
	r := relay{clitest.New(t)}
	r.Configure("[knowledge]\nproject = \"on\"\nmin_session = \"0s\"\n")
	return r
}

// script writes a script for the scripted model and gives its MODEL argument.
func (r relay) script(name, text string) string {
	r.T.Helper()
	path := filepath.Join(r.Home+"-scripts", name+".json")
	clitest.WriteFile(r.T, path, text)
	return "scripted/" + path
}

// process is the command in a process of its own.
func (r relay) process(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Dir, c.Env = r.Dir, append(append([]string{}, r.App.Environ...), "CLI_TEST_ARGS="+strings.Join(args, "\n"))
	return c
}

// killedAt starts the command and kills it as soon as it writes a line that holds the words.
func (r relay) killedAt(words string, args ...string) {
	r.T.Helper()
	c := r.process(append(args, "--output-format", "stream-json")...)
	out, err := c.StdoutPipe()
	if err != nil {
		r.T.Fatal(err)
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	if err := c.Start(); err != nil {
		r.T.Fatal(err)
	}
	patience := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer patience.Stop()
	lines, seen := bufio.NewScanner(out), false
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if !seen && strings.Contains(lines.Text(), words) {
			seen = true
			_ = c.Process.Kill() // SIGKILL
		}
	}
	if err := c.Wait(); !seen || err == nil {
		r.T.Fatalf("perdure %v wrote no line with %q, or ended by itself: %v\n%s", args, words, err, stderr.String())
	}
}

// given is what a session began with, by name.
func (r relay) given(id string) map[string]string {
	r.T.Helper()
	h := r.Open("{}")
	defer r.Close(h)
	out := map[string]string{}
	for ev, err := range h.Events(r.T.Context(), id, 1, 0) {
		if err != nil {
			r.T.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			r.T.Fatal(err)
		}
		if g, ok := body.(*session.ContextGiven); ok {
			for _, text := range g.Texts {
				out[text.Name] = string(text.Text)
			}
		}
	}
	return out
}

// did is the file to which the steps of the job add a line each.
func (r relay) did() string {
	b, _ := os.ReadFile(filepath.Join(r.Dir, "did"))
	return strings.ReplaceAll(string(b), "\n", " ")
}

// step is a reply that does one thing.
func step(what string) string {
	return fmt.Sprintf(`{"text":"I do %s.","tools":[{"name":"Bash","input":{"command":"echo %s >>did"}}]}`, what, what)
}

func plan(schema, retry, load string) string {
	return fmt.Sprintf(`{"text":"I plan.","tools":[{"name":"TodoWrite","input":{"todos":[{"content":"the schema","status":%q},{"content":"the retry logic","status":%q},
		{"content":"the load test","status":%q}]}}]}`, schema, retry, load)
}

// stall is a reply in whose middle a process is killed; another script gives it at once.
const stall = `{"text":"This reply takes its time.","delay_ms":%d}`

// The next session tries again what the one before it found not to work, and does again what is done: peers start from
// nothing after a kill. Here one job goes through three sessions, each killed by SIGKILL, the third with another model.
// The second and the third are given the failed approach with its reason; a model that would try it again unless its
// request names it does not, and the third does the one step that is left.
func TestAJobInThreeKilledSessions(t *testing.T) {
	r := newRelay(t)
	allow := []string{"--allowed-tools", "Bash"}
	start := func(id, model, prompt string, more ...string) []string {
		return append(append([]string{"-p", prompt, "--session-id", id, "--model", model}, allow...), more...)
	}
	wait := fmt.Sprintf(stall, 30_000)
	again := `{"match":"","steps":[` + step("v2-mode") + `,{"text":"Tried."}]}`
	one := r.script("one", `{"turns":[{"match":"","steps":[`+plan("in_progress", "pending", "pending")+`,`+step("schema")+`,
		{"text":"It does not work.","tools":[{"name":"Note","input":{"kind":"failed","text":"v2 compatibility mode","reason":"idempotency keys change"}}]},
		`+plan("completed", "in_progress", "pending")+`,`+wait+`]}]}`)
	two := r.script("two", `{"turns":[{"match":"v2 compatibility mode - idempotency keys change","steps":[`+step("retry")+`,`+plan("completed", "completed", "in_progress")+`,`+wait+`]},`+again+`]}`)
	three := func(delay int) string {
		return r.script("three", `{"turns":[{"match":"v2 compatibility mode - idempotency keys change","steps":[`+step("load")+`,`+plan("completed", "completed", "completed")+`,`+
			fmt.Sprintf(stall, delay)+`]},`+again+`]}`)
	}
	r.killedAt("t1.s5.b0", start("s1", one, "migrate the payments")...)
	r.killedAt("t1.s3.b0", start("s2", two, "carry on")...)
	third := three(30_000)
	r.killedAt("t1.s3.b0", start("s3", third, "carry on")...)
	three(0)
	r.OK("-p", "--resume", "s3")
	if got := r.did(); got != "schema retry load " {
		t.Errorf("what was done: %q", got)
	}
	for id, next := range map[string]string{"s2": "the retry logic", "s3": "the load test"} {
		g := r.given(id)[session.GivenHandoff]
		_, after, _ := strings.Cut(g, "## Next Step")
		after, _, _ = strings.Cut(after, "## State")
		if !strings.Contains(g, "v2 compatibility mode") || !strings.Contains(g, "idempotency keys change") || !strings.Contains(after, next) {
			t.Errorf("%s was given:\n%s", id, g)
		}
	}
	// The control: one that ignores what was left tries it again.
	r.OK(start("s4", two, "carry on", "--handoff", "ignore")...)
	if got := r.did(); got != "schema retry load v2-mode " {
		t.Errorf("a session that ignores handoffs did: %q", got)
	}
}

// Two agents that work in one directory and end at the same moment overwrite each other's page. Both are there, each
// names the other, and the next session is told of both.
func TestTwoSessionsEndAtOnce(t *testing.T) {
	r := newRelay(t)
	script := func(work string) string {
		return r.script(work, `{"turns":[{"match":"","steps":[{"text":"I work.","tools":[{"name":"Note","input":{"kind":"failed","text":"the way of `+work+`","reason":"it is too long"}},
			{"name":"Bash","input":{"command":"touch ready-`+work+`; i=0; until [ -e go ] || [ $i -gt 3000 ]; do sleep 0.02; i=$((i+1)); done"}}]},{"text":"The work on `+work+` is over."}]}]}`)
	}
	var both []*exec.Cmd
	for _, work := range []string{"left", "right"} {
		c := r.process("-p", "work on "+work, "--session-id", work, "--model", script(work), "--allowed-tools", "Bash")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		both = append(both, c)
	}
	for _, work := range []string{"left", "right"} {
		clitest.Until(t, work+" works", func() bool { _, err := os.Stat(filepath.Join(r.Dir, "ready-"+work)); return err == nil })
	}
	clitest.WriteFile(t, filepath.Join(r.Dir, "go"), "")
	for _, c := range both {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(r.Dir, ".agent", "HANDOFF*.md"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for i, file := range files {
		b, err := os.ReadFile(file)
		if other := filepath.Base(files[1-i]); err != nil || !strings.Contains(string(b), other) {
			t.Errorf("%s does not name %s: %v\n%s", file, other, err, b)
		}
	}
	r.OK("-p", "and now", "--session-id", "next", "--model", r.script("next", `{"turns":[{"match":"","steps":[{"text":"Hello."}]}]}`))
	g := r.given("next")[session.GivenHandoff]
	for _, work := range []string{"work on left", "work on right", "the way of left", "the way of right"} {
		if !strings.Contains(g, work) {
			t.Errorf("the next session is not told of %q:\n%s", work, g)
		}
	}
}

// After a compaction an agent that runs headless stops, and its exit code says that all is well. A turn that was
// compacted goes on to its end; with compaction off it says so by its exit code, with what to do, and going on from
// there is one command.
func TestARunThatStopsForItsWindowIsNoSuccess(t *testing.T) {
	r := newRelay(t)
	var steps []string
	for i := range 8 {
		clitest.WriteFile(t, filepath.Join(r.Dir, fmt.Sprint("f", i)), strings.Repeat(fmt.Sprintf("a line of file %d\n", i), 900))
		steps = append(steps, fmt.Sprintf(`{"text":"I read %d.","tools":[{"name":"Read","input":{"file_path":"f%d"}}]}`, i, i))
	}
	script := r.script("long", `{"turns":[{"match":"read","steps":[`+strings.Join(steps, ",")+`,{"text":"THE END"}]}]}`)
	name := strings.TrimPrefix(script, "scripted/")
	window := func(n int) {
		r.Configure(fmt.Sprintf("[knowledge]\nproject = \"on\"\nmin_session = \"0s\"\n[windows]\n\"scripted/%s\" = %d\n", name, n))
	}
	window(22_000)
	if out := r.OK("-p", "read all", "--session-id", "whole", "--model", script); !strings.Contains(out, "THE END") {
		t.Errorf("it says %q", out)
	}
	if log := r.OK("log", "whole"); !strings.Contains(log, "context.compacted") {
		t.Errorf("it was not compacted:\n%s", log)
	}
	o := r.Run("-p", "read all", "--session-id", "off", "--model", script, "--no-compact")
	if o.Code == 0 || strings.Contains(o.Stdout, "THE END") || !strings.Contains(o.Stderr, "perdure compact off") {
		t.Errorf("with compaction off: exit %d\n%s\n%s", o.Code, o.Stdout, o.Stderr)
	}
	if out := r.OK("inbox", "--json"); !strings.Contains(out, `"remedy":"perdure compact off"`) {
		t.Errorf("the inbox says %s", out)
	}
	if out := r.OK("-p", "--resume", "off", "--no-compact=false"); !strings.Contains(out, "THE END") {
		t.Errorf("going on says %q", out)
	}
}
