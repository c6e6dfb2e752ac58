package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Flags and files take rules as people write them elsewhere: the other spelling of the flags, blanks between rules, and
// a word * for any further words.
func TestRulesAsPeopleWriteThem(t *testing.T) {
	w := newWorld(t)
	script := filepath.Join(w.dir, "model.json")
	if err := os.WriteFile(script, []byte(asking("Bash", map[string]any{"command": "touch made"})), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(id string, args ...string) outcomeOf {
		return w.run(append([]string{"-p", "--session-id", id, "--model", "scripted/" + script, "go"}, args...)...)
	}
	if o := run("a", "--allowedTools", "Read Bash(touch *)"); o.code != 0 {
		t.Errorf("allowed: %+v", o)
	}
	if o := run("b", "--allowed-tools", "Bash", "--disallowedTools", "Edit Bash(touch *)"); o.code != 0 || !strings.Contains(w.ok("log", "b"), "deny by Bash(touch *)") {
		t.Errorf("denied: %+v", o)
	}
	for list, want := range map[string]string{"Read Bash(touch": "byte 5", "Bash (touch)": "no blank", "Read;Edit": `"Read;Edit" is not a tool's name`} {
		if o := run("c", "--allowedTools", list); o.code != 2 || !strings.Contains(o.stderr, want) {
			t.Errorf("%q: %+v, want exit 2 with %q", list, o, want)
		}
	}
	if o := run("d", "--disallowed-tools", "Bash(touch*)"); o.code != 2 || !strings.Contains(o.stderr, "wildcard") {
		t.Errorf("a deny rule that would deny less than it says: %+v", o)
	}
	file := filepath.Join(w.dir, ".config", "perdure", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[permissions]\nallow = [\"Read Bash(touch *)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := run("e"); o.code != 0 {
		t.Errorf("by the configuration: %+v", o)
	}
}
