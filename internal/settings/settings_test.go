package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/permission"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A project's file can only narrow: its deny and ask rules and lower limits hold, everything else is named as ignored.
func TestProjectOnlyNarrows(t *testing.T) {
	dir := t.TempDir()
	user := write(t, filepath.Join(dir, "user.toml"), `
max_turns = 10
max_budget_usd = 5.0
[permissions]
allow = ["Read"]
`)
	write(t, filepath.Join(dir, ".perdure", "config.toml"), `
model = "openai/evil"
permission_mode = "acceptEdits"
max_turns = 3
max_budget_usd = 50.0
[permissions]
allow = ["Bash"]
deny = ["Read(.env)"]
ask = ["Bash(git push:*)"]
`)
	l, err := settings.Load(user, dir)
	if err != nil {
		t.Fatal(err)
	}
	if l.Model != "" || l.Mode != "" || l.MaxSteps != 3 || l.MaxBudgetUSD != 5 {
		t.Errorf("%+v", l.Settings)
	}
	var rules []string
	for _, r := range l.Rules {
		rules = append(rules, string(r.Effect)+" "+r.Text+" "+r.Source)
	}
	want := "allow Read user, deny Read(.env) project, ask Bash(git push:*) project"
	if got := strings.Join(rules, ", "); got != want {
		t.Errorf("rules %s, want %s", got, want)
	}
	if len(l.Ignored) != 1 || !strings.Contains(l.Ignored[0], "model, permission_mode, 1 allow rule") {
		t.Errorf("ignored %q", l.Ignored)
	}
	for _, r := range l.Rules {
		if r.Source == permission.SourceProject && r.Effect == permission.Allow {
			t.Errorf("a project's allow rule came through: %+v", r)
		}
	}
}

// What cannot be understood is an error that says where: a deny rule that is not read would widen.
func TestErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"max_turns = [":                       "line 1",
		"\nmax_turnz = 3\n":                   `unknown setting "max_turnz"`,
		"[permissions]\ndeny = [\"Bash(\"]\n": "Bash(",
	} {
		file := write(t, filepath.Join(t.TempDir(), "config.toml"), text)
		if _, err := settings.Load(file, ""); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := settings.Load(filepath.Join(t.TempDir(), "none.toml"), t.TempDir()); err != nil {
		t.Errorf("files that are not there: %v", err)
	}
}

// An entry of protect is resolved or refused, never ignored: a project's relative path lies below its directory, the
// home may be written in three ways, and what no path can be made of is an error.
func TestProtectIsResolvedOrRefused(t *testing.T) {
	dir := t.TempDir()
	for entry, want := range map[string]string{
		"src": filepath.Join(dir, "src"), "./src": filepath.Join(dir, "src"), "../x": filepath.Join(filepath.Dir(dir), "x"), "/data": "/data",
		"~": "~", "~/notes": "~/notes", "$HOME": "~", "$HOME/x": "~/x", "${HOME}/x": "~/x",
		"": "!", "~root/x": "!", "$FOO/x": "!", "$HOMER": "!", "*.pem": "!", "/data/*": "!", "a?": "!",
	} {
		write(t, filepath.Join(dir, ".perdure", "config.toml"), "protect = [\""+entry+"\"]\n")
		l, err := settings.Load("", dir)
		if want == "!" {
			if !errors.Is(err, settings.ErrProtect) {
				t.Errorf("%q of a project: %q, %v, want ErrProtect", entry, l.Protect, err)
			}
		} else if err != nil || len(l.Protect) != 1 || l.Protect[0] != want {
			t.Errorf("%q of a project: %q, %v, want %q", entry, l.Protect, err, want)
		}
		user := write(t, filepath.Join(dir, "user.toml"), "protect = [\""+entry+"\"]\n")
		relative := !strings.HasPrefix(want, "~") && entry != want
		if l, err = settings.Load(user, ""); (err != nil) != relative {
			t.Errorf("%q of the user: %q, %v", entry, l.Protect, err)
		}
	}
}
