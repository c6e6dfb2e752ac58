package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Flags and files take rules as people write them elsewhere: the other spelling of the flags, blanks between rules, and
// a word * for any further words.
func TestRulesAsPeopleWriteThem(t *testing.T) {
	w := clitest.New(t)
	script := filepath.Join(w.Dir, "model.json")
	if err := os.WriteFile(script, []byte(clitest.Asking("Bash", map[string]any{"command": "touch made"})), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(id string, args ...string) clitest.Outcome {
		return w.Run(append([]string{"-p", "--session-id", id, "--model", "scripted/" + script, "go"}, args...)...)
	}
	if o := run("a", "--allowedTools", "Read Bash(touch *)"); o.Code != 0 {
		t.Errorf("allowed: %+v", o)
	}
	if o := run("b", "--allowed-tools", "Bash", "--disallowedTools", "Edit Bash(touch *)"); o.Code != 0 || !strings.Contains(w.OK("log", "b"), "deny by Bash(touch *)") {
		t.Errorf("denied: %+v", o)
	}
	for list, want := range map[string]string{"Read Bash(touch": "byte 5", "Bash (touch)": "no blank", "Read;Edit": `"Read;Edit" is not a tool's name`} {
		if o := run("c", "--allowedTools", list); o.Code != 2 || !strings.Contains(o.Stderr, want) {
			t.Errorf("%q: %+v, want exit 2 with %q", list, o, want)
		}
	}
	if o := run("d", "--disallowed-tools", "Bash(touch*)"); o.Code != 2 || !strings.Contains(o.Stderr, "wildcard") {
		t.Errorf("a deny rule that would deny less than it says: %+v", o)
	}
	file := filepath.Join(w.Dir, ".config", "perdure", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[permissions]\nallow = [\"Read Bash(touch *)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := run("e"); o.Code != 0 {
		t.Errorf("by the configuration: %+v", o)
	}
}
