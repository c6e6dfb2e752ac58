package screen_test

import (
	"testing"

	"github.com/perdure/perdure/internal/cli/screen"
)

// /export takes the format as a word, as the command line has it, or from the ending of the file; a file's name may have
// blanks.
func TestExportWords(t *testing.T) {
	for args, want := range map[string][2]string{
		"":                    {"md", "session-s.md"},
		"html":                {"html", "session-s.html"},
		"html out.html":       {"html", "out.html"},
		"HTML  my words.txt ": {"html", "my words.txt"},
		"jsonl x":             {"jsonl", "x"},
		"out.HTM":             {"html", "out.HTM"},
		"notes of today.md":   {"md", "notes of today.md"},
		"日本語.json":            {"jsonl", "日本語.json"},
		"htmlish":             {"md", "htmlish"},
	} {
		format, file := screen.Exported("s", args)
		if format != want[0] || file != want[1] {
			t.Errorf("%q: %s to %q, want %v", args, format, file, want)
		}
	}
}
