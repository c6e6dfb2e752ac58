package cli

import (
	"io"
	"os"
	"strings"
	"testing"
)

// A signal ends delete's question at once, and nothing is deleted.
func TestInterruptedQuestion(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	stdin, keyboard := io.Pipe()
	defer func() { _ = keyboard.Close() }()
	w.app.Asks, w.app.Stdin = true, stdin
	o, wait := w.start("delete", "s1")
	until(t, "it asks", func() bool { return strings.Contains(o.stderr.String(), "[y/N]") })
	w.signals <- os.Interrupt
	wait()
	if o.code != 130 || strings.Contains(o.stderr.String(), "  with") || strings.Contains(o.stderr.String(), "s1  ") {
		t.Errorf("exit %d, %q", o.code, o.stderr.String())
	}
	w.ok("show", "s1")
}

// Several sessions go at once, forks with their parents; filters select, show their plan, and leave alone what is in use
// or needed.
func TestDeleteMany(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"s1", "s2", "s3", "s4", "s5"} {
		w.create(id)
	}
	w.ok("fork", "s1", "--id", "kid")
	w.fails(2, "which sessions", "delete", "--yes")
	w.fails(2, "not both", "delete", "s1", "--keep-last", "1")
	w.fails(2, "want an age", "delete", "--older-than", "soon", "-y")
	w.fails(2, "--yes", "delete", "--older-than", "0d")
	w.fails(4, "no session", "delete", "s1", "none", "-y")
	w.ok("delete", "s1", "kid", "-y")
	w.fails(4, "no session", "show", "kid")
	w.ok("close", "s2")
	if plan := w.ok("delete", "--lifecycle", "closed", "--dry-run"); !strings.HasPrefix(plan, "s2, ") || !strings.Contains(plan, "last changed now") || strings.Contains(plan, "s3") {
		t.Errorf("plan: %s", plan)
	}
	w.ok("delete", "--lifecycle", "closed", "-y")
	w.fails(4, "no session", "show", "s2")
	if plan := w.ok("delete", "--older-than", "1d", "--dry-run"); plan != "" {
		t.Errorf("plan: %s", plan)
	}
	w.ok("fork", "s3", "--id", "kid")
	h := w.open("{}")
	defer w.close(h)
	if _, err := h.Record(t.Context(), "s4"); err != nil {
		t.Fatal(err)
	}
	o := w.run("delete", "--keep-last", "1", "-y")
	if o.code != 0 || !strings.Contains(o.stderr, "s4 is in use by pid") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	left := w.ok("list")
	if n := strings.Count(left, "\n") - 1; n != 2 && n != 3 || !strings.Contains(left, "s4") {
		t.Errorf("left:\n%s", left)
	}
}
