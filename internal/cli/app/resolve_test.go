package app_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: sessions that share a name, or a part of their ids, are told apart: each with its id and what it is known by.
func TestSessionsOfOneName(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(clitest.SaysYes)
	w.OK("-p", "--model", model, "--session-id", "abcd-one", "--name", "twin", "make the parser faster")
	w.OK("-p", "--model", model, "--session-id", "abcd-two", "--name", "twin", "write the report")
	for _, args := range [][]string{
		{"show", "twin"},
		{"log", "twin"},
		{"-p", "-r", "twin", "go"},
		{"delete", "twin", "--yes"},
		{"task", "list", "twin"},
		{"fork", "twin"},
		{"send", "twin", "x"},
		{"approvals", "list", "twin"},
		{"answer", "twin", "x"},
		{"usage", "twin"},
		{"verify", "twin"},
		{"show", "abcd"},
		{"task", "output", "twin"},
		{"task", "kill", "twin", "--all"},
		{"task", "run", "--session", "twin", "--", "true"},
	} {
		o := w.Fails(app.ExitUsage, "more than one", args...)
		for _, want := range []string{"abcd-one", "make the parser faster", "abcd-two", "write the report", "last changed", w.Dir} {
			if !strings.Contains(strings.ReplaceAll(o.Stderr, "~", w.Dir), want) {
				t.Errorf("%v lacks %q: %s", args, want, o.Stderr)
			}
		}
		if strings.Count(o.Stderr, "\n  abcd-") != 2 {
			t.Errorf("%v: want a line each: %s", args, o.Stderr)
		}
	}
	for _, id := range []string{"abcd-x1", "abcd-x2", "abcd-x3", "abcd-x4", "abcd-x5", "abcd-x6"} {
		w.Create(id)
		w.OK("rename", id, "twin")
	}
	if o := w.Fails(app.ExitUsage, "more than one", "show", "twin"); strings.Count(o.Stderr, "\n  abcd-") != app.MaxTwins || !strings.Contains(o.Stderr, "perdure list") {
		t.Errorf("that there are more is not told: %s", o.Stderr)
	}
}

// Goal: what is called nearest is near, and what waits elsewhere is not offered for a session in which nothing waits.
func TestNearestIsNear(t *testing.T) {
	w := clitest.New(t)
	w.Create("parser")
	w.Create("docs")
	w.OK("rename", "docs", "The big report")
	for name, want := range map[string]string{
		"parzer": "nearest: parser", "Parser": "nearest: parser", "big rep": "nearest: docs (The big report)", "the big reporrt": "nearest: docs",
		"nonsense": "perdure list", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz": "perdure list",
	} {
		o := w.Fails(app.ExitMissing, want, "show", name)
		if strings.Contains(o.Stderr, "nearest") != strings.Contains(want, "nearest") {
			t.Errorf("%q: %s", name, o.Stderr)
		}
	}
	w.Prompt("parser", clitest.Asking("Bash", map[string]string{"command": "touch made"}), "go", "")
	for _, args := range [][]string{{"approvals", "allow", "docs"}, {"approvals", "deny", "--all", "docs"}, {"answer", "docs", "x"}} {
		if o := w.Fails(app.ExitMissing, "docs", args...); strings.Contains(o.Stderr, "parser:t1") {
			t.Errorf("%v: %s", args, o.Stderr)
		}
	}
	w.Fails(app.ExitMissing, "an approval waits there: perdure approvals list parser", "answer", "parser", "x")
	w.Prompt("docs", clitest.Asking("AskUser", map[string]string{"question": "Which?"}), "go", "")
	w.Fails(app.ExitMissing, "a question waits there: perdure answer docs", "approvals", "allow", "docs")
}

// Goal: an act names a wait by itself where only one session has it.
func TestWaitsByTheirAct(t *testing.T) {
	w := clitest.New(t)
	for _, id := range []string{"one", "two"} {
		w.Create(id)
		w.Prompt(id, clitest.Asking("Bash", map[string]string{"command": "touch " + id}), "go", "")
	}
	o := w.Fails(app.ExitUsage, "more than one", "approvals", "allow", "t1.s1.b2.a1")
	if !strings.Contains(o.Stderr, "one:t1.s1.b2.a1") || !strings.Contains(o.Stderr, "two:t1.s1.b2.a1") {
		t.Error(o.Stderr)
	}
	w.OK("approvals", "deny", "one:t1.s1.b2.a1")
	w.OK("approvals", "allow", "t1.s1.b2.a1", "--scope", "session")
	w.Fails(app.ExitMissing, "no approval waits", "approvals", "allow", "t7.s1.b2.a1")
	w.Create("t3.s1.b1.a1") // a session's own id comes first
	w.Fails(app.ExitMissing, "t3.s1.b1.a1", "approvals", "allow", "t3.s1.b1.a1")
}
