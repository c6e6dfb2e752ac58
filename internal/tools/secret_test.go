package tools

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
)

const hiddenValue = "tok_canary_90b1c2d3e4f5a6b7"

// guarded is a world with a secret.
func guarded(t *testing.T) *world {
	w := newWorld(t)
	w.Replace = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(hiddenValue), []byte("[secret:TOK]")) }
	w.Partial = func(b []byte) int {
		for n := min(len(b), len(hiddenValue)-1); n > 0; n-- {
			if bytes.HasSuffix(b, []byte(hiddenValue[:n])) {
				return n
			}
		}
		return 0
	}
	return w
}

// Goal: where a tool shortens a line, no part of a secret is left at the cut, wherever the secret lies.
func TestNoCutShowsAPartOfASecret(t *testing.T) {
	for _, wide := range []string{"a", "é", "\U0001F600"} {
		for _, at := range []int{150, 490, 1990, 1999} {
			w := guarded(t)
			line := strings.Repeat(wide, at) + hiddenValue + strings.Repeat("z", 10_000)
			w.put("f", "first\n"+line+"\nlast\n")
			for name, r := range map[string]Result{
				"Read":  w.call("Read", obj{"file_path": "f"}),
				"Grep":  w.call("Grep", obj{"pattern": "^(first|" + wide + "+tok)", "path": "f", "output_mode": "content", "-A": 1}),
				"Edit":  w.call("Edit", obj{"file_path": "f", "old_string": "first\n", "new_string": "changed\n"}),
				"Edit?": w.call("Edit", obj{"file_path": "f", "old_string": "changed\nelse", "new_string": "x"}),
			} {
				text := model.Text(r.Content)
				if !strings.Contains(text, wide+wide+wide) {
					t.Errorf("%s at %d of %s: the line is not shown:\n%.300s", name, at, wide, text)
				}
				if i := strings.Index(text, hiddenValue[:4]); i >= 0 {
					t.Errorf("%s at %d of %s: a part is shown: …%s", name, at, wide, text[max(0, i-10):min(len(text), i+60)])
				}
			}
		}
	}
	// A line of which not even what is looked at ends after the secret.
	w := guarded(t)
	for shift := range len(hiddenValue) {
		name := fmt.Sprintf("f%d", shift)
		w.put(name, strings.Repeat("\U0001F600", 1997)+strings.Repeat("b", 13-shift%13)+hiddenValue+strings.Repeat("z", 100_000))
		text := model.Text(w.call("Read", obj{"file_path": name}).Content)
		if strings.Contains(text, hiddenValue[:4]) {
			t.Errorf("%d: a part is shown: %s", shift, text[len(text)-100:])
		}
	}
}
