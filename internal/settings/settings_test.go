package settings_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/model"
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
// A file that is a link to nothing is a configuration that is gone, not one that says nothing: its deny rules would be.
func TestLinkToNothing(t *testing.T) {
	dir := t.TempDir()
	for _, link := range []string{"user/perdure/config.toml", "user/perdure", "project/.perdure", "project/.perdure/config.toml"} {
		at := filepath.Join(dir, strings.ReplaceAll(link, "/", "_"), link)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("dotfiles", at); err != nil {
			t.Fatal(err)
		}
		base := filepath.Join(dir, strings.ReplaceAll(link, "/", "_"))
		_, err := settings.Load(filepath.Join(base, "user", "perdure", "config.toml"), filepath.Join(base, "project"))
		if !errors.Is(err, settings.ErrConfig) || !strings.Contains(err.Error(), at+" is a link to nothing") {
			t.Errorf("%s: %v", link, err)
		}
		if err := os.Mkdir(filepath.Join(filepath.Dir(at), "dotfiles"), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(link, ".toml") {
			continue
		}
		if _, err := settings.Load(filepath.Join(base, "user", "perdure", "config.toml"), filepath.Join(base, "project")); err != nil {
			t.Errorf("%s, a link to a directory without a file: %v", link, err)
		}
	}
}

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
[knowledge]
project = "on"
[permissions]
allow = ["Bash"]
deny = ["Read(.env)"]
ask = ["Bash(git push:*)"]
`)
	l, err := settings.Load(user, dir)
	if err != nil {
		t.Fatal(err)
	}
	if l.Knowledge.InProject() || l.Model != "" || l.Mode != "" || l.MaxSteps != 3 || l.MaxBudgetUSD != 5 {
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
	if len(l.Ignored) != 1 || !strings.Contains(l.Ignored[0], "model, permission_mode, knowledge, 1 allow rule") {
		t.Errorf("ignored %q", l.Ignored)
	}
	for _, r := range l.Rules {
		if r.Source == permission.SourceProject && r.Effect == permission.Allow {
			t.Errorf("a project's allow rule came through: %+v", r)
		}
	}
}

// What cannot be understood is an error that says where, in plain words: a rule or a limit that is not read would widen.
func TestErrorsNameThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"max_turns = [":                              ":1: ",
		"\nmax_turnz = 3\n":                          `:2: unknown setting "max_turnz": did you mean "max_turns"?`,
		"modelz = \"x\"\n":                           `:1: unknown setting "modelz": did you mean "model"?`,
		"[permissions]\ndenny = []\n":                `:2: unknown setting "permissions.denny": did you mean "permissions.deny"?`,
		"zzzzzzzz = 1\n":                             "there are model, ",
		"[permissions]\n\ndeny = [\n\"Bash(\"]\n":    ":4: ",
		"\nmax_turns = \"many\"\n":                   ":2: max_turns: it must be a whole number, and is a text",
		"max_turns = 1.5\n":                          ":1: max_turns: it must be a whole number, and is a number",
		"max_budget_usd = \"5\"\n":                   ":1: max_budget_usd: it must be a number, and is a text",
		"secrets = \"X\"\n":                          ":1: secrets: it must be a list of texts",
		"[knowledge]\nproject = \"yes\"\n":           ":2: knowledge: project \"yes\" is unknown: use on, off or ask",
		"knowledge = \"on\"\n":                       ":1: knowledge: it must be a table, and is a text",
		"limits = 3\n":                               ":1: limits: it must be a table, and is a whole number",
		"model = true\n":                             ":1: model: it must be a text in quotes, and is true or false",
		"max_turns = -7\n":                           ":1: max_turns cannot be negative",
		"\nmax_budget_usd = -5.0\n":                  ":2: max_budget_usd must be",
		"max_budget_usd = nan\n":                     ":1: max_budget_usd must be",
		"max_budget_usd = inf\n":                     ":1: max_budget_usd must be",
		"[limits]\nfiles = -1\n":                     ":2: limits: files cannot be negative",
		"[limits]\ncpu = \"-5s\"\n":                  ":2: limits: cpu: ",
		"[limits]\nwall = \"5\"\n":                   ":2: limits: wall: ",
		"[limits]\nmemory = \"much\"\n":              ":2: limits: memory: ",
		"permission_mode = \"paln\"\n":               ":1: permission_mode \"paln\" is unknown",
		"secrets = [\"$TOKEN\"]\n":                   `:1: secrets: "$TOKEN" is no name`,
		"secrets = [\"TOKEN\",\n\"HOME\"]\n":         ":2: secrets: HOME cannot be one: its value stands in ordinary texts, as in paths, which would all be replaced; take it out of the list",
		"[prices.gpt]\ninput = 1\noutput = 2\n":      `:1: prices: "gpt" is no model`,
		"[prices.\"a/b\"]\ninput = 1\n":              ":1: prices: a/b needs input and output",
		"[prices.\"a/b\"]\ninput = -1\noutput = 1\n": "prices: input of a/b must be",
		"[prices.\"a/b\"]\ninputs = 1\n":             `unknown setting "prices.a/b.inputs"`,
	} {
		file := write(t, filepath.Join(t.TempDir(), "config.toml"), text)
		_, err := settings.Load(file, "")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) || !errors.Is(err, settings.ErrConfig) {
			t.Errorf("%q: %v, want %q", text, err, want)
			continue
		}
		for _, word := range []string{"strconv", " struct", " toml:", "Settings", "int64", "float64"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%q: %v speaks of %s", text, err, word)
			}
		}
	}
	if _, err := settings.Load(filepath.Join(t.TempDir(), "none.toml"), t.TempDir()); err != nil {
		t.Errorf("files that are not there: %v", err)
	}
}

// A list of secrets that names a variable of every environment would take the paths and words out of all that the model is
// told. The user's file, a project's and what is set on a command line are alike in that.
func TestOrdinaryVariablesAreNoSecrets(t *testing.T) {
	dir := t.TempDir()
	user, project := filepath.Join(dir, "u", "config.toml"), filepath.Join(dir, "p")
	for _, name := range []string{
		"HOME", "PWD", "OLDPWD", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "LC_ALL", "TERM", "EDITOR",
		"XDG_CONFIG_HOME", "PERDURE_HOME",
	} {
		file := write(t, filepath.Join(project, ".perdure", "config.toml"), "secrets = [\""+name+"\"]\n")
		if _, err := settings.Load("", project); !errors.Is(err, settings.ErrConfig) || !strings.Contains(fmt.Sprint(err), file+":1: secrets: "+name+" cannot be one") {
			t.Errorf("a project's secret %s: %v", name, err)
		}
		if err := settings.Set(user, "secrets", "TOKEN,"+name); !errors.Is(err, settings.ErrConfig) {
			t.Errorf("the user sets %s: %v", name, err)
		}
	}
	for _, name := range []string{"HOMEPAGE_TOKEN", "USER_CODE", "LC", "DB_PWD", "TERMINAL_KEY"} {
		write(t, filepath.Join(project, ".perdure", "config.toml"), "secrets = [\""+name+"\"]\n")
		if l, err := settings.Load("", project); err != nil || !slices.Equal(l.Secrets, []string{name}) {
			t.Errorf("%s: %q, %v", name, l.Secrets, err)
		}
	}
}

// An allow rule that cannot be read is an error in every file, as a deny rule is, also in one that nobody trusts yet: who
// trusted it would have a file that every later run refuses.
func TestUnreadableAllowRuleOfAProject(t *testing.T) {
	dir := t.TempDir()
	user := filepath.Join(dir, "u", "config.toml")
	file := write(t, filepath.Join(dir, "p", ".perdure", "config.toml"), "[permissions]\nallow = [\"Bash(make)\",\n\"Bash(go test\"]\n")
	for _, project := range []string{filepath.Join(dir, "p"), filepath.Join(dir, "p", "below")} {
		l, err := settings.Load(user, project)
		if !errors.Is(err, settings.ErrConfig) || !strings.Contains(fmt.Sprint(err), file+":3: ") || !strings.Contains(fmt.Sprint(err), "Bash(go test") {
			t.Errorf("%s: %v, with %d to trust", project, err, len(l.Untrusted))
		}
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

// The files of the directories above hold too, and mean there what they say there; every one only narrows.
func TestProjectFilesAbove(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, ".perdure", "config.toml"), "max_turns = 7\nmodel = \"x/y\"\n[prices.\"x/y\"]\ninput = 0\noutput = 0\n[permissions]\ndeny = [\"Read(secret.txt)\", \"Bash(touch:*)\"]\nask = [\"Edit(src/x.go)\"]\n")
	write(t, filepath.Join(top, "a", "b", ".perdure", "config.toml"), "max_turns = 9\n[permissions]\ndeny = [\"Read(own)\"]\n")
	l, err := settings.Load("", filepath.Join(top, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range l.Rules {
		rules = append(rules, string(r.Effect)+" "+r.Text)
	}
	want := "deny Read(own), deny Read(" + top + "/**/secret.txt), deny Bash(touch:*), ask Edit(" + top + "/src/x.go)"
	if got := strings.Join(rules, ", "); got != want || l.MaxSteps != 7 {
		t.Errorf("rules %s, want %s; %d steps", got, want, l.MaxSteps)
	}
	if len(l.PriceList()) > 0 || len(l.Ignored) != 1 || !strings.Contains(l.Ignored[0], "model, prices") {
		t.Errorf("prices %v, ignored %q", l.PriceList(), l.Ignored)
	}
}

// Prices are read in US dollars for a million tokens; what is not said of the cache costs as much as input.
func TestPrices(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "config.toml"), "[prices.\"openai/qwen3\"]\ninput = 0.25\noutput = 2\ncache_read = 0.025\n")
	l, err := settings.Load(file, "")
	if err != nil {
		t.Fatal(err)
	}
	want := model.Price{Input: 250, Output: 2000, CacheRead: 25, CacheWrite: 250}
	if got := l.PriceList()["openai/qwen3"]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
