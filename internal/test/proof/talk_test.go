package proof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// talk is a session with a script of its own, for one scenario.
type talk struct {
	*place
	id     string
	dir    string // where it works
	log    string // where its commands leave marks
	prompt string
	env    []string
	server *modeltest.Server
}

// newTalk starts a model server with a script; %LOG in it is the file for marks. The prompt is unique to the session.
func newTalk(t *testing.T, p *place, id string, steps ...modeltest.Step) *talk {
	t.Helper()
	k := &talk{place: p, id: id, dir: p.work(id), prompt: "scenario " + id}
	k.log = filepath.Join(k.dir, "ran.log")
	for _, s := range steps {
		for i := range s.Tools {
			s.Tools[i].InputText = strings.ReplaceAll(s.Tools[i].InputText, "%LOG", k.log)
		}
	}
	var err error
	k.server, err = modeltest.Start(modeltest.Config{Script: modeltest.Script{Conversations: []modeltest.Conversation{{First: k.prompt, Steps: steps}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.server.Close(); err != nil {
			t.Error(err)
		}
		for _, v := range k.server.Violations() {
			t.Errorf("session %s: %s", id, v)
		}
	})
	k.env = p.environ("ANTHROPIC_API_KEY=key-of-the-proof", "ANTHROPIC_BASE_URL="+k.server.URL())
	return k
}

// say is a step with words and bash commands.
func say(text string, commands ...string) modeltest.Step {
	s := modeltest.Step{Text: text}
	for i, c := range commands {
		s.Tools = append(s.Tools, modeltest.ToolCall{
			ID: fmt.Sprintf("toolu_%d_%x", i, []byte(text)), Name: "Bash", InputText: fmt.Sprintf(`{"command": %q}`, c),
		})
	}
	return s
}

// first are the arguments that open the session.
func (k *talk) first(more ...string) []string {
	return append([]string{"-p", "--output-format", "json", "--session-id", k.id, "--model", "anthropic/claude-sonnet-5-5", k.prompt}, more...)
}

// again are the arguments that resume it.
func (k *talk) again(more ...string) []string {
	return append([]string{"-p", "--output-format", "json", "-r", k.id}, more...)
}

const bypass = "--dangerously-skip-permissions"

// start starts an agent in the session's directory.
func (k *talk) start(t *testing.T, args ...string) *agent {
	t.Helper()
	a, err := start(k.dir, k.env, args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// end waits for an agent, which must end with the code.
func (a *agent) end(t *testing.T, want int) *view.Result {
	t.Helper()
	code, err := a.wait()
	if err != nil || code != want {
		t.Fatalf("exit code %d, not %d: %v: %s%s", code, want, err, a.stdout, &a.stderr)
	}
	return a.result
}

// dies kills an agent.
func (a *agent) dies(t *testing.T) {
	t.Helper()
	if ok, err := a.kill(); !ok || err != nil {
		t.Fatalf("the agent was not killed: %v: %s%s", err, a.stdout, &a.stderr)
	}
}

// run runs an agent to its end.
func (k *talk) run(t *testing.T, want int, args ...string) *view.Result {
	t.Helper()
	return k.start(t, args...).end(t, want)
}

// verb runs another command of the binary.
func (k *talk) verb(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := k.perdure(k.dir, k.env, args...)
	if code != want {
		t.Fatalf("perdure %q: exit code %d, not %d: %s%s", args, code, want, stdout, stderr)
	}
	return stdout, stderr
}

// marks reads what the commands left.
func (k *talk) marks() string {
	b, _ := os.ReadFile(k.log) // no mark yet: no file
	return strings.Join(strings.Fields(string(b)), " ")
}

// marked waits for a mark.
func (k *talk) marked(t *testing.T, mark string) {
	t.Helper()
	if err := until(t.Context(), "mark "+mark, func() bool { return strings.HasSuffix(k.marks(), mark) }); err != nil {
		t.Fatal(err)
	}
}

// sound checks that the log verifies and that the commands left these marks.
func (k *talk) sound(t *testing.T, marks string) *session.State {
	t.Helper()
	if out, _ := k.verb(t, 0, "verify", k.id); out != "ok\n" {
		t.Errorf("verify: %s", out)
	}
	if got := k.marks(); got != marks {
		t.Errorf("commands left %q, not %q", got, marks)
	}
	st, err := k.home.State(t.Context(), k.id)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// results are the texts of all tool results in the log, oldest first.
func (p *place) results(t *testing.T, id string) (out []string) {
	t.Helper()
	for ev, err := range p.home.Events(t.Context(), id, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := body.(*session.ToolFinished); ok {
			out = append(out, model.Text(f.Content))
		}
	}
	return out
}

// kinds counts the events of a kind.
func (p *place) kinds(t *testing.T, id string, kind store.Kind) (n int) {
	t.Helper()
	for ev, err := range p.home.Events(t.Context(), id, 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

func pidOf(a *agent) string { return strconv.Itoa(a.cmd.Process.Pid) }

// stop stops the agent's process; cont lets it go on.
func (a *agent) stop(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func (a *agent) cont(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
