package handoffs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

const job = `{"turns":[{"match":"migrate","steps":[
  {"tools":[{"name":"Note","input":{"kind":"failed","text":"patching the library","reason":"refunds fail"}}]},
  {"text":"The schema is done."}]},
 {"match":"go on","steps":[{"text":"I go on."}]}],
 "summary":{"text":"Goal: v3 of the API.\nDone:\n- the schema\nNext step: map the fields\nLearned:\n[GOTCHA] v3 sends subscription_id"}}`

// Goal: a person has a handoff written at any time, with the model's words or without, and a session that is paused or
// closed leaves one by itself when it lasted long enough.
func TestHandoffIsWritten(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(job)
	w.OK("-p", "--model", model, "--session-id", "s", "migrate it")
	w.Fails(4, "no handoff lies here", "handoff", "show") // it lasted no 15 minutes
	w.Fails(4, "has left no handoff", "handoff", "show", "s")
	if out := w.OK("handoff", "write", "s"); !strings.Contains(out, "v3 of the API.") || !strings.Contains(out, "patching the library - refunds fail") {
		t.Errorf("with words:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, ".agent")); err == nil {
		t.Error("something was made in the project without consent")
	}
	if out := w.OK("handoff", "show"); !strings.Contains(out, "map the fields") {
		t.Errorf("show:\n%s", out)
	}
	w.OK("-p", "--model", model, "--session-id", "bare", "--handoff", "ignore", "migrate it")
	out := clitest.Lines(t, w.OK("handoff", "write", "bare", "--no-model", "--json"))
	if text, _ := out[0]["text"].(string); len(out) != 1 || out[0]["session_id"] != "bare" || out[0]["written"] != true ||
		!strings.Contains(text, "patching the library - refunds fail") || strings.Contains(text, "v3 of the API") {
		t.Errorf("without words: %v", out)
	}
	w.Fails(4, "no session", "handoff", "write", "nobody")

	w.Configure("[knowledge]\nmin_session = \"0s\"\n")
	before := w.OK("handoff", "list")
	w.OK("pause", "s")
	if after := w.OK("handoff", "list"); after != before {
		t.Errorf("pausing wrote a handoff although nothing was new:\n%s", after)
	}
}

// Goal: a pause leaves a handoff when the session did something since.
func TestAPauseLeavesAHandoff(t *testing.T) {
	w := clitest.New(t)
	w.OK("-p", "--model", w.Scripted(job), "--session-id", "s", "migrate it")
	w.Configure("[knowledge]\nmin_session = \"0s\"\n")
	w.OK("pause", "s")
	if out := w.OK("handoff", "show"); !strings.Contains(out, "patching the library - refunds fail") {
		t.Errorf("after a pause:\n%s", out)
	}
	if out := w.OK("log", "s"); strings.Count(out, "handoff.written") != 1 || strings.Contains(out, "handoff.requested") {
		t.Errorf("a model was asked, or twice:\n%s", out)
	}
}

// Goal: a new session is given the handoff and says so; the document is archived; a flag leaves it alone.
func TestASessionGoesOnFromAHandoff(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(job)
	w.OK("-p", "--model", model, "--session-id", "s", "migrate it")
	w.OK("handoff", "write", "s")
	if o := w.Run("-p", "--model", model, "--session-id", "fresh", "--handoff", "ignore", "go on"); o.Code != 0 || strings.Contains(o.Stderr, "goes on from") {
		t.Errorf("ignored: %+v", o)
	}
	o := w.Run("-p", "--model", model, "--session-id", "next", "go on")
	if o.Code != 0 || !strings.Contains(o.Stderr, "goes on from "+w.Home) || !strings.Contains(o.Stderr, "--handoff ignore") {
		t.Errorf("%+v", o)
	}
	if out := w.OK("show", "next", "--context"); !strings.Contains(out, "patching the library - refunds fail") {
		t.Errorf("the next session does not know what failed:\n%s", out)
	}
	if out := w.OK("handoff", "list"); strings.Count(out, "\n") != 2 { // a short session puts back what it read
		t.Errorf("list:\n%s", out)
	}
	w.OK("handoff", "show")
	for _, bad := range [][]string{{"--handoff", "maybe", "x"}, {"-r", "s", "--handoff", "continue", "x"}} {
		w.Fails(2, "--handoff", append([]string{"-p"}, bad...)...)
	}
}
