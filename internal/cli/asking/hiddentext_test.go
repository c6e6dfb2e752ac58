package asking_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// hiders are characters that do not show, that turn the direction of text, or that a terminal obeys.
var hiders = []rune{
	0x00, 0x07, 0x08, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x2000, 0x200a, 0x200b, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029,
	0x202a, 0x202e, 0x202f, 0x2060, 0x2065, 0x2066, 0x2069, 0x206f, 0x2800, 0x3164, 0xe000, 0xf8ff, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0x1d173,
	0xe0000, 0xe0001, 0xe0020, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xe0fff, 0xf0000, 0x10fffd,
}

// Goal: whatever does not show by itself shows as its number, wherever a person reads what waits for an answer: a path, a
// change, a field, the directory, a question and its answers, in the run, in the list and behind the answer.
func TestNothingHidesInWhatWaits(t *testing.T) {
	w := clitest.New(t)
	dir := filepath.Join(w.Dir, "in\u200bside")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, r := range hiders {
		shown := fmt.Sprintf(`\u%04x`, r)
		if r > 0xffff {
			shown = fmt.Sprintf(`\U%08x`, r)
		}
		odd := "left" + string(r) + "right"
		if r == 0 { // no path
			odd = "leftright"
		}
		q, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": []any{
			map[string]any{"tools": []any{
				map[string]any{"name": "Write", "input": map[string]any{"file_path": odd + "1", "content": "left" + string(r) + "right2\n", "left" + string(r) + "right3": "x"}},
				map[string]any{"name": "Glob", "input": map[string]any{"pattern": "left" + string(r) + "right4", "path": "/etc"}},
				map[string]any{"name": "AskUser", "input": map[string]any{"question": "left" + string(r) + "right5", "options": []string{"left" + string(r) + "right6", "b"}}},
			}}, map[string]any{"text": "x"},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		w.App.Dir = dir
		id := fmt.Sprintf("s%d", i)
		for name, text := range map[string]string{"run": w.Waits(id, string(q)), "list": w.OK("approvals", "list", id)} {
			for _, want := range []string{"1", "2", "3", "4", "5", "6"} {
				if r == 0 && (want == "1" || want == "4") { // the call is refused
					continue
				}
				if !strings.Contains(text, "left"+shown+"right"+want) {
					t.Errorf("U+%04X: %s does not show part %s:\n%q", r, name, want, text)
				}
			}
			if strings.ContainsRune(text, r) && r != 0 {
				t.Errorf("U+%04X: %s has it as it is", r, name)
			}
			if !strings.Contains(text, `in\u200bside`) {
				t.Errorf("%s does not show the directory: %q", name, text)
			}
		}
		if text := w.Run("approvals", "list", id, "--json").Stdout; strings.ContainsRune(text, r) {
			t.Errorf("U+%04X stands in JSON as it is", r)
		}
		if o := w.Run("approvals", "deny", "--all", id); r != 0 && !strings.Contains(o.Stderr, "left"+shown+"right1") {
			t.Errorf("U+%04X: the answer does not show it: %q", r, o.Stderr)
		}
	}
}

// Goal: the name of a file cannot write lines of its own into the change that is shown.
func TestNameOfAFileStaysOnItsLine(t *testing.T) {
	w := clitest.New(t)
	for i, name := range []string{"new\n@@ -1,1 +1,1 @@\n+harmless", "old\n+harmless"} {
		if err := os.WriteFile(filepath.Join(w.Dir, "old\n+harmless"), []byte("was\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		q, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": []any{
			map[string]any{"tools": []any{map[string]any{"name": "Write", "input": map[string]any{"file_path": name, "content": "evil\n"}}}}, map[string]any{"text": "x"},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(w.Waits(fmt.Sprintf("s%d", i), string(q))) {
			if strings.HasPrefix(strings.TrimSpace(line), "+harmless") {
				t.Errorf("%q has a line of its own: %q", name, line)
			}
		}
	}
}

// Goal: letters that are written from right to left do not show what waits in another order than it has: beside the line
// stands one with their numbers. In listings they stay as they are, kept from moving what is beside them.
func TestRightToLeftInWhatWaits(t *testing.T) {
	w := clitest.New(t)
	const command = "cp א.txt ב.txt"
	q, err := json.Marshal(map[string]any{"turns": []any{map[string]any{"steps": []any{
		map[string]any{"tools": []any{map[string]any{"name": "Bash", "input": map[string]any{"command": command}}, map[string]any{"name": "Write", "input": map[string]any{"file_path": "ג/ד", "content": "ה ו\n"}}}}, map[string]any{"text": "x"},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"run": w.Waits("s", string(q)), "list": w.OK("approvals", "list", "s")} {
		for _, want := range []string{command, `cp \u05d0.txt \u05d1.txt`, `\u05d2/\u05d3`, `+\u05d4 \u05d5`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing:\n%q", name, want, text)
			}
		}
	}
	w.OK("rename", "s", "שם")
	if text := w.OK("list"); !strings.Contains(text, "\u2066") || strings.Contains(text, `\u05e9`) {
		t.Errorf("list: %q", text)
	}
}
