package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was typed before a question was shown does not answer it: a y that is in the way allows nothing unseen.
func TestTypedBeforeTheQuestion(t *testing.T) {
	w := newWorld(t)
	model := w.scripted(`{"turns": [{"steps": [
		{"tools": [{"name": "Bash", "input": {"command": "until [ -e typed ]; do sleep 0.01; done"}}]},
		{"tools": [{"name": "Write", "input": {"file_path": "one", "content": "x"}}, {"name": "Write", "input": {"file_path": "two", "content": "x"}}]},
		{"text": "The end."}, {"text": "The end."}]}]}`)
	p := w.sit(120, 40, "-p", "--wait", "--session-id", "s", "--allowed-tools", "Bash", "--model", model, "go")
	p.types("y\ny\n")
	until(t, "the terminal has it", func() bool { return strings.Count(p.shown.String(), "y") >= 2 })
	if err := os.WriteFile(filepath.Join(w.dir, "typed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it asks", func() bool { return strings.Contains(p.shown.String(), "(1 of 2)? y, or n and why [n] ") })
	p.types("n\ny\n") // the second line is for a question that is not there yet
	until(t, "it asks again", func() bool { return strings.Contains(p.shown.String(), "(2 of 2)? y, or n and why [n] ") })
	p.types("n\n")
	p.left(0)
	for _, name := range []string{"one", "two"} {
		if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			t.Errorf("%s was written: %q", name, p.shown.String())
		}
	}
}
