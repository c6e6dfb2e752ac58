package cli_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a text that begins with a dash, as a list does, is a text for every verb that takes one, and words keep their
// order.
func TestTextsThatBeginWithADash(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.OK("send", "s", "- first\n- second")
	w.OK("send", "s", "- a", "then b", "--key", "k")
	w.OK("rename", "s", "- old -")
	if out := w.OK("log", "- old -"); !strings.Contains(out, "- first") || !strings.Contains(out, "- a then b") {
		t.Errorf("log:\n%s", out)
	}
	w.Create("q")
	w.Prompt("q", clitest.Asking("AskUser", map[string]string{"question": "Which?"}), "go", "")
	if o := w.Run("answer", "q", "- neither", "of both"); o.Code != 0 || !strings.Contains(o.Stderr, "answered: - neither of both") {
		t.Errorf("%+v", o)
	}
	id := w.RunTask("--name", "cat", "--stdin", "--", "sh", "-c", "echo up; exec cat")
	w.OK("task", "write", "cat", "- typed")
	clitest.Until(t, "it is echoed", func() bool { return strings.Contains(w.OK("task", "output", id), "- typed\n") })
	w.Fails(app.ExitUsage, "unknown flag", "send", "s", "--kez", "x")
	if o := w.Run("-p", "--model", w.Scripted(clitest.SaysYes), "--session-id", "p", "- a", "b"); o.Code != 0 || !strings.Contains(w.OK("log", "p"), "- a b") {
		t.Errorf("a prompt of several words: %+v\n%s", o, w.OK("log", "p"))
	}
}

// Goal: - stands for stdin in an answer as it does in a prompt and in a message.
func TestAnswerFromStdin(t *testing.T) {
	w := clitest.New(t)
	w.Create("q")
	w.Prompt("q", clitest.Asking("AskUser", map[string]any{"question": "Which?", "options": []string{"red", "blue"}}), "go", "")
	w.App.Stdin = strings.NewReader("2\n")
	if o := w.Run("answer", "q", "-"); o.Code != 0 || !strings.Contains(o.Stderr, "answered: blue") {
		t.Errorf("%+v", o)
	}
}
