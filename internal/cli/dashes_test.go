package cli

import (
	"strings"
	"testing"
)

// Goal: a text that begins with a dash, as a list does, is a text for every verb that takes one, and words keep their
// order.
func TestTextsThatBeginWithADash(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	w.ok("send", "s", "- first\n- second")
	w.ok("send", "s", "- a", "then b", "--key", "k")
	w.ok("rename", "s", "- old -")
	if out := w.ok("log", "- old -"); !strings.Contains(out, "- first") || !strings.Contains(out, "- a then b") {
		t.Errorf("log:\n%s", out)
	}
	w.create("q")
	w.prompt("q", asking("AskUser", map[string]string{"question": "Which?"}), "go", "")
	if o := w.run("answer", "q", "- neither", "of both"); o.code != 0 || !strings.Contains(o.stderr, "answered: - neither of both") {
		t.Errorf("%+v", o)
	}
	id := w.runTask("--name", "cat", "--stdin", "--", "sh", "-c", "echo up; exec cat")
	w.ok("task", "write", "cat", "- typed")
	until(t, "it is echoed", func() bool { return strings.Contains(w.ok("task", "output", id), "- typed\n") })
	w.fails(exitUsage, "unknown flag", "send", "s", "--kez", "x")
	if o := w.run("-p", "--model", w.scripted(saysYes), "--session-id", "p", "- a", "b"); o.code != 0 || !strings.Contains(w.ok("log", "p"), "- a b") {
		t.Errorf("a prompt of several words: %+v\n%s", o, w.ok("log", "p"))
	}
}

// Goal: - stands for stdin in an answer as it does in a prompt and in a message.
func TestAnswerFromStdin(t *testing.T) {
	w := newWorld(t)
	w.create("q")
	w.prompt("q", asking("AskUser", map[string]any{"question": "Which?", "options": []string{"red", "blue"}}), "go", "")
	w.app.Stdin = strings.NewReader("2\n")
	if o := w.run("answer", "q", "-"); o.code != 0 || !strings.Contains(o.stderr, "answered: blue") {
		t.Errorf("%+v", o)
	}
}
