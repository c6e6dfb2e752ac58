package run_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: who waits for the outcome of a run gets it before the model is asked for the words of a handoff, and it stays the
// last thing on stdout.
func TestTheOutcomeDoesNotWaitForTheHandoff(t *testing.T) {
	for _, format := range []string{"text", "json", "stream-json", "claude-stream-json"} {
		w := clitest.New(t)
		w.Configure("[knowledge]\nmin_session = \"0s\"\n")
		model := w.Scripted(`{"turns":[{"steps":[{"text":"ANSWER"}]}],"summary":{"text":"Goal: wait for nobody, one word after the other","delay_ms":400}}`)
		r, wait := w.Start("-p", "--model", model, "--session-id", "s", "--output-format", format, "go")
		clitest.Until(t, "the outcome", func() bool {
			out := r.Read().Stdout
			return strings.Contains(out, "ANSWER") && (format == "text" || strings.Contains(out, `"result"`))
		})
		if o := w.Run("log", "s"); strings.Contains(o.Stdout, "handoff.written") {
			t.Errorf("%s: the handoff came first", format)
		}
		early := r.Read().Stdout
		wait()
		if o := r.Read(); o.Code != 0 || o.Stdout != early {
			t.Errorf("%s: exit %d; after the outcome came %q", format, o.Code, strings.TrimPrefix(o.Stdout, early))
		}
		if o := w.Run("handoff", "show"); !strings.Contains(o.Stdout, "wait for nobody") {
			t.Errorf("%s: %+v", format, o)
		}
	}
}

// Goal: a model that fails when it is asked for the words of a handoff is not asked again, and nobody is told that it is.
func TestAModelWithoutWordsForTheHandoff(t *testing.T) {
	w := clitest.New(t)
	w.Configure("[knowledge]\nmin_session = \"0s\"\n")
	model := w.Scripted(`{"turns":[{"steps":[{"text":"ANSWER"}]}],"summary":{"text":"x","fail":[{"class":"server","status":500},{"class":"server","status":500}]}}`)
	o := w.Run("-p", "--model", model, "--session-id", "s", "build the parser")
	if o.Code != 0 || o.Stdout != "ANSWER\n" || strings.Contains(o.Stderr, "next try") || !strings.Contains(o.Stderr, "written from the log") {
		t.Errorf("%+v", o)
	}
	if out := w.OK("handoff", "show"); !strings.Contains(out, "build the parser") {
		t.Errorf("the handoff:\n%s", out)
	}
}

// Goal: a quick question in an old session costs no model call for a handoff: what counts is how long its turns took.
func TestAHandoffIsForWorkAndNotForAge(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(`{"turns":[{"match":"work","steps":[{"text":"A"}]},{"match":"more","steps":[{"text":"B"}]},{"match":"long","steps":[{"text":"C"}]}]}`)
	start := w.App.Now()
	w.OK("-p", "--model", model, "--session-id", "s", "work")
	w.App.Now = func() time.Time { return start.Add(16 * time.Minute) }
	w.OK("-p", "--model", model, "-r", "s", "more")
	if out := w.OK("log", "s"); strings.Contains(out, "handoff") {
		t.Errorf("two quick turns left a handoff:\n%s", out)
	}
	var minutes atomic.Int64
	w.App.Now = func() time.Time { return start.Add(time.Duration(20+minutes.Add(4)) * time.Minute) }
	w.OK("-p", "--model", model, "-r", "s", "long")
	w.App.Now = func() time.Time { return start.Add(time.Duration(20+minutes.Load()) * time.Minute) }
	if out := w.OK("log", "s"); !strings.Contains(out, "handoff.written") {
		t.Errorf("a long turn left none:\n%s", out)
	}
}
