package proof_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/modeltest"
)

// has reports whether a promise was found broken.
func (v verdict) has(promise string) bool {
	return slices.ContainsFunc(v, func(p problem) bool { return p.promise == promise })
}

// clone copies what a control may change.
func (e *evidence) clone() *evidence {
	c := *e
	c.acks, c.log, c.bodies, c.dirs = slices.Clone(e.acks), slices.Clone(e.log), slices.Clone(e.bodies), slices.Clone(e.dirs)
	c.results, c.ran, c.files = maps.Clone(e.results), maps.Clone(e.ran), maps.Clone(e.files)
	c.state = e.state.View()
	st := *c.state
	c.state = &st
	return &c
}

// failing is the first call of the plan whose command does not exit 0.
func (p *plan) failing() expectation {
	for _, x := range p.expect {
		if x.command && x.code != 0 {
			return x
		}
	}
	return expectation{}
}

// doctored are the ways in which evidence is changed, with the promise that must then be found broken.
var doctored = []struct {
	name, promise string
	doctor        func(e *evidence)
}{
	{"an acknowledged event is not in the log", brokenLost, func(e *evidence) { e.log = e.log[:e.acks[len(e.acks)-1].seq-1] }},
	{"an acknowledged event has another hash", brokenLost, func(e *evidence) { e.acks[0].hash[0] ^= 1 }},
	{"a command began twice", brokenRepeated, func(e *evidence) { e.ran["begin-c2"]++ }},
	{"a command ended never", brokenMissing, func(e *evidence) { delete(e.ran, "end-c3") }},
	{"an act finished twice", brokenRepeated, func(e *evidence) {
		for _, b := range e.bodies {
			if f, ok := b.(*session.ToolFinished); ok {
				e.bodies = append(e.bodies, f)
				return
			}
		}
	}},
	{"a request was refused", brokenRefused, func(e *evidence) { e.refused = []modeltest.Violation{{Rule: "shape"}} }},
	{"an answer is missing", brokenRefused, func(e *evidence) { e.report.Sealed-- }},
	{"a result has another exit code", brokenCode, func(e *evidence) {
		r := e.results[e.plan.failing().id]
		r.Text = strings.Replace(r.Text, "exit code ", "exit code 1", 1)
		e.results[r.ID] = r
	}},
	{"a result has no exit code", brokenCode, func(e *evidence) {
		r := e.results[e.plan.failing().id]
		r.Text = strings.Replace(r.Text, "exit code ", "status ", 1)
		e.results[r.ID] = r
	}},
	{"output is missing", brokenResult, func(e *evidence) {
		r := e.results[e.plan.failing().id]
		r.Text = strings.Replace(r.Text, "err", "", 1)
		e.results[r.ID] = r
	}},
	{"an edit was lost", brokenFile, func(e *evidence) { e.files[e.plan.path("notes.txt")] = "first line\n" }},
	{"the directory did not carry over", brokenCarry, func(e *evidence) { e.state.Cwd = "/" }},
	{"a variable did not carry over", brokenCarry, func(e *evidence) { e.state.Env = nil }},
	{"a call was counted twice", brokenUsage, func(e *evidence) { e.report.Usage.Input /= 2 }},
	{"a lost call was not counted", brokenUsage, func(e *evidence) { e.bodies = append(e.bodies, &session.ModelLost{Lost: 7}) }},
	{"a retry was another request", brokenPrefix, func(e *evidence) { e.report.ChangedRetries = 1 }},
	{"the log is damaged", brokenLog, func(e *evidence) { e.faults = []string{"event 3 is damaged"} }},
	{"the task is another process", brokenTask, func(e *evidence) { e.task.pid++ }},
	{"old output was shown again", brokenTask, func(e *evidence) {
		r := e.results[e.plan.expect[len(e.plan.expect)-2].id]
		r.Text = "tick-1\n" + r.Text
		e.results[r.ID] = r
	}},
	{"an act directory was left", brokenLeft, func(e *evidence) { e.dirs = append(e.dirs, "t1.s1.b9.a1") }},
}

// Evidence that was doctored is not let through: whatever the campaign counts, it would have seen.
func TestControlEvidence(t *testing.T) {
	t.Parallel()
	r, err := newRound(newPlace(t), modeltest.Anthropic, "good", 7)
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.run(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range judge(e) {
		t.Errorf("before it was doctored: %s", x)
	}
	caught := 0
	for _, c := range doctored {
		d := e.clone()
		c.doctor(d)
		if !judge(d).has(c.promise) {
			t.Errorf("%s: not caught: %v", c.name, judge(d))
			continue
		}
		caught++
	}
	planted("SIGKILL", "evidence that was doctored", len(doctored), caught)
}

// A store that loses what it acknowledged is caught: the home is set back to a copy from before the commands ran.
func TestControlStoreSetBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	t.Cleanup(p.endAll) // a log that forgot a task cannot end it
	r, err := newRound(p, modeltest.OpenAI, "set-back", 11)
	if err != nil {
		t.Fatal(err)
	}
	r.release()
	args := []string{"-p", "--dangerously-skip-permissions", "--output-format", "stream-json"}
	first := r.killed(t, func(a *agent) { a.printed(3) }, append(args, "--session-id", r.id, "--model", r.model, r.plan.prompt)...)
	old := r.database(t)
	if args, err = r.next(t.Context(), byEvent); err != nil {
		t.Fatal(err)
	}
	second := r.killed(t, func(*agent) { r.ranTo(t, "end-c3") }, args...)
	r.remember(first.acks...)
	r.remember(second.acks...)
	if err := p.home.Close(); err != nil {
		t.Fatal(err)
	}
	for name := range r.database(t) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range old {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.home = p.open(homes.Config{})
	if err := r.drive(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	e, err := r.gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := judge(e)
	lost, repeated := v.has(brokenLost), v.has(brokenRepeated)
	if !lost || !repeated {
		t.Errorf("lost events caught: %t, repeated commands caught: %t: %v", lost, repeated, v)
	}
	planted("SIGKILL", "a store set back to before its acknowledgements: lost events, repeated commands", 2, count(lost, repeated))
}

func count(list ...bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// killed starts an agent, waits for a moment, and kills it.
func (r *round) killed(t *testing.T, moment func(*agent), args ...string) *agent {
	t.Helper()
	a, err := start(r.plan.dir, r.env, args...)
	if err != nil {
		t.Fatal(err)
	}
	moment(a)
	if ok, err := a.kill(); !ok || err != nil {
		t.Fatalf("the agent was not killed: %v: %s", err, &a.stderr)
	}
	return a
}

// ranTo waits until a command has left its mark.
func (r *round) ranTo(t *testing.T, mark string) {
	t.Helper()
	err := until(t.Context(), mark, func() bool {
		b, err := os.ReadFile(r.plan.log)
		return err == nil && bytes.Contains(b, []byte(mark))
	})
	if err != nil {
		t.Error(err)
	}
}

// database reads the files of the home's database.
func (p *place) database(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := filepath.Glob(filepath.Join(p.dir, "perdure.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = b
	}
	return files
}

// A history that changes on its way to the model is refused by the server, and the campaign would have seen it.
func TestControlChangedRequest(t *testing.T) {
	t.Parallel()
	for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			r, err := newRound(newPlace(t), api, "changed", 13)
			if err != nil {
				t.Fatal(err)
			}
			r.release()
			liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				b, err := io.ReadAll(req.Body)
				if err != nil {
					t.Error(err)
				}
				if bytes.Contains(b, []byte("I edit.")) { // from the fifth request on
					b = bytes.Replace(b, []byte(`"moved"`), []byte(`"MOVED"`), 1)
				}
				again := req.Clone(req.Context())
				again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
				r.server.ServeHTTP(w, again)
			}))
			defer liar.Close()
			env := slices.Clone(r.env)
			for i, kv := range env {
				env[i] = strings.Replace(kv, r.server.URL(), liar.URL, 1)
			}
			code, _, errs := r.perdure(r.plan.dir, env, "-p", "--dangerously-skip-permissions", "--session-id", r.id, "--model", r.model, r.plan.prompt)
			if code != 1 || !strings.Contains(errs, "prefix_message") {
				t.Errorf("exit code %d: %s", code, errs)
			}
			e, err := r.gather(context.WithoutCancel(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			caught := judge(e).has(brokenRefused)
			if !caught {
				t.Errorf("not caught: %v", judge(e))
			}
			planted("SIGKILL", "one word of the history changed on its way to the model, "+api, 1, count(caught))
		})
	}
}
