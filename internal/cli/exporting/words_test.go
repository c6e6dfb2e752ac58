package exporting_test

import (
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Whoever writes the format or the file as a word is told the command line that takes it.
func TestExportSaysWhichFlag(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.Fails(2, "perdure export ID --format html -o out.html", "export", "html", "out.html")
	w.Fails(2, "perdure export s -o 'my page.html'", "export", "s", "my page.html")
	w.Fails(2, "perdure export s --format jsonl", "export", "s", "jsonl")
	w.Fails(2, "want a session", "export")
	w.Fails(2, "want a session", "export", "a", "b", "c")
}
