package attack_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Goal: an entry of protect holds as it was meant, or stops the run; none is ignored in silence.
func TestProtectEntries(t *testing.T) {
	for _, c := range []struct {
		entry string
		code  int
	}{{"src", 3}, {"./src", 3}, {"$HOME/x", 3}, {"~", 3}, {"~root/x", 2}, {"$FOO/x", 2}, {"*.x", 2}} {
		t.Run(c.entry, func(t *testing.T) {
			w := newWorld(t)
			w.write(filepath.Join(w.work, ".perdure", "config.toml"), "protect = [\""+c.entry+"\"]\n")
			target := "src/made"
			if strings.ContainsAny(c.entry, "~$") {
				target = filepath.Join(w.user, "x", "made")
			}
			o := w.perdure(run1("s", w.model(calls(call{"Write", map[string]any{"file_path": target, "content": "x"}})), bypass)...)
			if o.code != c.code || exists(filepath.Join(w.work, "src", "made")) || exists(filepath.Join(w.user, "x", "made")) {
				t.Errorf("%s", o)
			}
			if c.code == 2 && !strings.Contains(o.stderr, "protect") {
				t.Errorf("the refusal does not name the setting: %s", o)
			}
		})
	}
}
