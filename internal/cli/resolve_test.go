package cli

import (
	"strings"
	"testing"
)

// Goal: sessions that share a name, or a part of their ids, are told apart: each with its id and what it is known by.
func TestSessionsOfOneName(t *testing.T) {
	w := newWorld(t)
	model := w.scripted(saysYes)
	w.ok("-p", "--model", model, "--session-id", "abcd-one", "--name", "twin", "make the parser faster")
	w.ok("-p", "--model", model, "--session-id", "abcd-two", "--name", "twin", "write the report")
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
		o := w.fails(exitUsage, "more than one", args...)
		for _, want := range []string{"abcd-one", "make the parser faster", "abcd-two", "write the report", "last changed", w.dir} {
			if !strings.Contains(strings.ReplaceAll(o.stderr, "~", w.dir), want) {
				t.Errorf("%v lacks %q: %s", args, want, o.stderr)
			}
		}
		if strings.Count(o.stderr, "\n  abcd-") != 2 {
			t.Errorf("%v: want a line each: %s", args, o.stderr)
		}
	}
	for _, id := range []string{"abcd-x1", "abcd-x2", "abcd-x3", "abcd-x4", "abcd-x5", "abcd-x6"} {
		w.create(id)
		w.ok("rename", id, "twin")
	}
	if o := w.fails(exitUsage, "more than one", "show", "twin"); strings.Count(o.stderr, "\n  abcd-") != maxTwins || !strings.Contains(o.stderr, "perdure list") {
		t.Errorf("that there are more is not told: %s", o.stderr)
	}
}

// Goal: what is called nearest is near, and what waits elsewhere is not offered for a session in which nothing waits.
func TestNearestIsNear(t *testing.T) {
	w := newWorld(t)
	w.create("parser")
	w.create("docs")
	w.ok("rename", "docs", "The big report")
	for name, want := range map[string]string{
		"parzer": "nearest: parser", "Parser": "nearest: parser", "big rep": "nearest: docs (The big report)", "the big reporrt": "nearest: docs",
		"nonsense": "perdure list", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz": "perdure list",
	} {
		o := w.fails(exitMissing, want, "show", name)
		if strings.Contains(o.stderr, "nearest") != strings.Contains(want, "nearest") {
			t.Errorf("%q: %s", name, o.stderr)
		}
	}
	w.prompt("parser", asking("Bash", map[string]string{"command": "touch made"}), "go", "")
	for _, args := range [][]string{{"approvals", "allow", "docs"}, {"approvals", "deny", "--all", "docs"}, {"answer", "docs", "x"}} {
		if o := w.fails(exitMissing, "docs", args...); strings.Contains(o.stderr, "parser:t1") {
			t.Errorf("%v: %s", args, o.stderr)
		}
	}
	w.fails(exitMissing, "an approval waits there: perdure approvals list parser", "answer", "parser", "x")
	w.prompt("docs", asking("AskUser", map[string]string{"question": "Which?"}), "go", "")
	w.fails(exitMissing, "a question waits there: perdure answer docs", "approvals", "allow", "docs")
}

// Goal: an act names a wait by itself where only one session has it.
func TestWaitsByTheirAct(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"one", "two"} {
		w.create(id)
		w.prompt(id, asking("Bash", map[string]string{"command": "touch " + id}), "go", "")
	}
	o := w.fails(exitUsage, "more than one", "approvals", "allow", "t1.s1.b2.a1")
	if !strings.Contains(o.stderr, "one:t1.s1.b2.a1") || !strings.Contains(o.stderr, "two:t1.s1.b2.a1") {
		t.Error(o.stderr)
	}
	w.ok("approvals", "deny", "one:t1.s1.b2.a1")
	w.ok("approvals", "allow", "t1.s1.b2.a1", "--scope", "session")
	w.fails(exitMissing, "no approval waits", "approvals", "allow", "t7.s1.b2.a1")
	w.create("t3.s1.b1.a1") // a session's own id comes first
	w.fails(exitMissing, "t3.s1.b1.a1", "approvals", "allow", "t3.s1.b1.a1")
}
