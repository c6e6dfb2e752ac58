package asking_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

const asksTwice = `{"turns":[{"match":"go","steps":[{"tools":[
	{"name":"Bash","input":{"command":"touch first"}},{"name":"Bash","input":{"command":"touch second"}}]},{"text":"done"}]}]}`

// Goal: of two calls that wait, the one that was not answered stays listed, whatever the other's answer grants; where
// a grant may have settled it, that is said.
func TestTheOtherCallStillWaits(t *testing.T) {
	for scope, want := range map[string]struct{ list, hint string }{
		"once":    {"touch second", "1 call still waits"},
		"session": {"is decided again when the session goes on", "1 other call is decided again"},
		"pattern": {"is decided again when the session goes on", "1 other call is decided again"},
	} {
		w := clitest.New(t)
		model := w.Scripted(asksTwice)
		if o := w.Run("-p", "--model", model, "--session-id", "s", "go"); o.Code != app.ExitWaiting {
			t.Fatalf("%+v", o)
		}
		o := w.Run("approvals", "allow", "s:t1.s1.b1.a1", "--scope", scope)
		if o.Code != 0 || !strings.Contains(o.Stderr, want.hint) {
			t.Errorf("%s: %+v", scope, o)
		}
		for _, args := range [][]string{{"approvals", "list"}, {"approvals", "list", "s"}} {
			out := w.OK(args...)
			if !strings.Contains(out, "s:t1.s1.b2.a1") || strings.Contains(out, "s:t1.s1.b1.a1") || !strings.Contains(out, want.list) {
				t.Errorf("%s: %v:\n%s", scope, args, out)
			}
		}
		if all := clitest.Lines(t, w.OK("approvals", "list", "--json")); len(all) != 1 || (all[0]["decided_again"] == true) != (scope != "once") {
			t.Errorf("%s: %v", scope, all)
		}
		if out := w.OK(); !strings.Contains(out, "t1.s1.b2.a1") {
			t.Errorf("%s: the overview:\n%s", scope, out)
		}
		o = w.Run("-p", "-r", "s", "--model", model)
		switch {
		case scope == "pattern" && (o.Code != 0 || o.Stdout != "done\n"):
			t.Errorf("the pattern covers it: %+v", o)
		case scope != "pattern" && o.Code != app.ExitWaiting:
			t.Errorf("%s: it is not asked: %+v", scope, o)
		}
		if scope == "session" {
			w.OK("approvals", "deny", "--all", "s")
			w.Fails(app.ExitMissing, "no approval waits", "approvals", "deny", "--all", "s")
		}
	}
}

// Goal: a call that is decided again takes an answer as before, and all of them at once.
func TestAnswersOfWhatIsDecidedAgain(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(asksTwice)
	if o := w.Run("-p", "--model", model, "--session-id", "s", "go"); o.Code != app.ExitWaiting {
		t.Fatalf("%+v", o)
	}
	w.OK("approvals", "allow", "s:t1.s1.b1.a1", "--scope=session")
	w.OK("approvals", "deny", "--all=s", "--message", "one is enough")
	if o := w.Run("-p", "-r", "s", "--model", model); o.Code != 0 || !strings.Contains(w.OK("show", "s", "--messages"), "one is enough") {
		t.Errorf("%+v", o)
	}
}

// Goal: while a second question waits, the answer to the first does not promise that the session goes on.
func TestTheOtherQuestionStillWaits(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(`{"turns":[{"match":"go","steps":[{"tools":[
		{"name":"AskUser","input":{"question":"Which?"}},{"name":"AskUser","input":{"question":"When?"}}]},{"text":"done"}]}]}`)
	if o := w.Run("-p", "--model", model, "--session-id", "s", "go"); o.Code != app.ExitWaiting {
		t.Fatalf("%+v", o)
	}
	if o := w.Run("answer", "s:t1.s1.b1.a1", "that"); o.Code != 0 || !strings.Contains(o.Stderr, "1 question still waits") || strings.Contains(o.Stderr, "goes on") {
		t.Errorf("%+v", o)
	}
	if out := w.OK("show", "s"); strings.Count(out, "waiting external") != 1 || !strings.Contains(out, "answered") {
		t.Errorf("show:\n%s", out)
	}
	if o := w.Run("answer", "s", "now", "--resume"); o.Code != 0 || o.Stdout != "done\n" {
		t.Errorf("%+v", o)
	}
}
