package sessions_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A signal ends delete's question at once, and nothing is deleted.
func TestInterruptedQuestion(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	stdin, keyboard := io.Pipe()
	defer func() { _ = keyboard.Close() }()
	w.App.Asks, w.App.Stdin = true, stdin
	o, wait := w.Start("delete", "s1")
	clitest.Until(t, "it asks", func() bool { return strings.Contains(o.Stderr.String(), "[y/N]") })
	w.Signals <- os.Interrupt
	wait()
	if o.Code != 130 || strings.Contains(o.Stderr.String(), "  with") || strings.Contains(o.Stderr.String(), "s1  ") {
		t.Errorf("exit %d, %q", o.Code, o.Stderr.String())
	}
	w.OK("show", "s1")
}

// Several sessions go at once, forks with their parents; filters select, show their plan, and leave alone what is in use
// or needed.
func TestDeleteMany(t *testing.T) {
	w := clitest.New(t)
	for _, id := range []string{"s1", "s2", "s3", "s4", "s5"} {
		w.Create(id)
	}
	w.OK("fork", "s1", "--id", "kid")
	w.Fails(2, "which sessions", "delete", "--yes")
	w.Fails(2, "not both", "delete", "s1", "--keep-last", "1")
	w.Fails(2, "want an age", "delete", "--older-than", "soon", "-y")
	w.Fails(2, "--yes", "delete", "--older-than", "0d")
	w.Fails(4, "no session", "delete", "s1", "none", "-y")
	w.OK("delete", "s1", "kid", "-y")
	w.Fails(4, "no session", "show", "kid")
	w.OK("close", "s2")
	if plan := w.OK("delete", "--lifecycle", "closed", "--dry-run"); !strings.HasPrefix(plan, "s2, ") || !strings.Contains(plan, "last changed now") || strings.Contains(plan, "s3") {
		t.Errorf("plan: %s", plan)
	}
	w.OK("delete", "--lifecycle", "closed", "-y")
	w.Fails(4, "no session", "show", "s2")
	if plan := w.OK("delete", "--older-than", "1d", "--dry-run"); plan != "" {
		t.Errorf("plan: %s", plan)
	}
	w.OK("fork", "s3", "--id", "kid")
	h := w.Open("{}")
	defer w.Close(h)
	if _, err := h.Record(t.Context(), "s4"); err != nil {
		t.Fatal(err)
	}
	o := w.Run("delete", "--keep-last", "1", "-y")
	if o.Code != 0 || !strings.Contains(o.Stderr, "s4 is in use by pid") {
		t.Errorf("exit %d, %s", o.Code, o.Stderr)
	}
	left := w.OK("list")
	if n := strings.Count(left, "\n") - 1; n != 2 && n != 3 || !strings.Contains(left, "s4") {
		t.Errorf("left:\n%s", left)
	}
}
