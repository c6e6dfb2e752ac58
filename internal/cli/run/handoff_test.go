package run_test

import (
	"strings"
	"testing"

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
