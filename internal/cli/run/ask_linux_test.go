package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// What was typed before a question was shown does not answer it: a y that is in the way allows nothing unseen.
func TestTypedBeforeTheQuestion(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(`{"turns": [{"steps": [
		{"tools": [{"name": "Bash", "input": {"command": "until [ -e typed ]; do sleep 0.01; done"}}]},
		{"tools": [{"name": "Write", "input": {"file_path": "one", "content": "x"}}, {"name": "Write", "input": {"file_path": "two", "content": "x"}}]},
		{"text": "The end."}, {"text": "The end."}]}]}`)
	p := w.Sit(120, 40, "-p", "--wait", "--session-id", "s", "--allowed-tools", "Bash", "--model", model, "go")
	p.Types("y\ny\n")
	clitest.Until(t, "the terminal has it", func() bool { return strings.Count(p.Shown.String(), "y") >= 2 })
	if err := os.WriteFile(filepath.Join(w.Dir, "typed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.Until(t, "it asks", func() bool { return strings.Contains(p.Shown.String(), "(1 of 2)? y, or n and why [n] ") })
	p.Types("n\ny\n") // the second line is for a question that is not there yet
	clitest.Until(t, "it asks again", func() bool { return strings.Contains(p.Shown.String(), "(2 of 2)? y, or n and why [n] ") })
	p.Types("n\n")
	p.Left(0)
	for _, name := range []string{"one", "two"} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err == nil {
			t.Errorf("%s was written: %q", name, p.Shown.String())
		}
	}
}
