package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/settings"
)

// Every field that a file may have is a setting that is listed, with its words, and the other way round.
func TestEverySettingIsListed(t *testing.T) {
	var listed []string
	for _, k := range settings.Keys() {
		listed = append(listed, k.Name)
		if k.About == "" || k.Default == "" || !slices.Contains([]string{settings.ProjectNarrows, settings.ProjectTrusted, settings.ProjectIgnored}, k.Project) {
			t.Errorf("%+v", k)
		}
	}
	fields := settings.Fields()
	slices.Sort(listed)
	slices.Sort(fields)
	if !slices.Equal(listed, fields) {
		t.Errorf("listed %q\nfields %q", listed, fields)
	}
}

// What is set is read back, whatever stood in the file before, and every other byte of it stays.
func TestSetKeepsTheFile(t *testing.T) {
	const old = `# mine
model = "a/b"   # the usual one
max_turns=3

[permissions] # rules
# what runs
allow = [
  "Bash(make)", # a comment with ]
  'Edit(src/**)',
]

[limits]
cpu = "1m"

# prices
[prices."openai/x.y"]
input = 1.5
output = 2
`
	for _, c := range []struct{ key, value, from, to string }{
		{"model", "openai/z", `model = "a/b"   #`, `model = "openai/z"   #`},
		{"max_turns", "50", "max_turns=3", "max_turns=50"},
		{"max_budget_usd", "5", "max_turns=3\n", "max_turns=3\nmax_budget_usd = 5.0\n"},
		{"permissions.allow", "Read,Bash(git log:*)", "[\n  \"Bash(make)\", # a comment with ]\n  'Edit(src/**)',\n]", `["Read", "Bash(git log:*)"]`},
		{"permissions.deny", `["Read(.env)"]`, "'Edit(src/**)',\n]\n", "'Edit(src/**)',\n]\ndeny = [\"Read(.env)\"]\n"},
		{"limits.memory", "4GiB", "cpu = \"1m\"\n", "cpu = \"1m\"\nmemory = \"4GiB\"\n"},
		{"limits.files", "100", "cpu = \"1m\"\n", "cpu = \"1m\"\nfiles = 100\n"},
		{"prices.openai/x.y.output", "2.25", "output = 2\n", "output = 2.25\n"},
		{"context.compact", "false", "output = 2\n", "output = 2\n\n[context]\ncompact = false\n"},
		{"windows.openai/x.y", "1000", "output = 2\n", "output = 2\n\n[windows]\n\"openai/x.y\" = 1000\n"},
		{"secrets", "A_B, C", "max_turns=3\n", "max_turns=3\nsecrets = [\"A_B\", \"C\"]\n"},
		{"retry_for", `2h`, "max_turns=3\n", "max_turns=3\nretry_for = \"2h\"\n"},
	} {
		file := write(t, filepath.Join(t.TempDir(), "config.toml"), old)
		if err := settings.Set(file, c.key, c.value); err != nil {
			t.Errorf("%s: %v", c.key, err)
			continue
		}
		got, _ := os.ReadFile(file)
		if want := strings.Replace(old, c.from, c.to, 1); string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.key, got, want)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", c.key, info.Mode(), err)
		}
		if strings.HasPrefix(c.key, "prices.") {
			continue // a price is whole or not at all
		}
		if err := settings.Unset(file, c.key); err != nil {
			t.Errorf("unset %s: %v", c.key, err)
		}
		values, err := settings.Origins(file, "")
		if err != nil || slices.ContainsFunc(values, func(v settings.Value) bool { return v.Key == c.key }) {
			t.Errorf("unset %s: %v %v", c.key, values, err)
		}
	}
}

// A file that is not there is made, for its owner alone; a link is followed.
func TestSetMakesTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "perdure", "config.toml")
	if err := settings.Set(file, "limits.cpu", "10m"); err != nil {
		t.Fatal(err)
	}
	if err := settings.Set(file, "model", "ollama/qwen3:8b"); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(file)
	if string(got) != "model = \"ollama/qwen3:8b\"\n\n[limits]\ncpu = \"10m\"\n" {
		t.Errorf("%q", got)
	}
	link := filepath.Join(dir, "link.toml")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := settings.Set(link, "max_turns", "7"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if got, _ := os.ReadFile(file); !strings.Contains(string(got), "max_turns = 7\n") {
		t.Errorf("%q", got)
	}
}

// What means nothing is refused with words, and the file is as it was.
func TestSetRefuses(t *testing.T) {
	const old = "limits = { cpu = \"1m\" }\nmodel = \"a/b\"\n"
	file := write(t, filepath.Join(t.TempDir(), "config.toml"), old)
	for _, c := range []struct{ key, value, want string }{
		{"modelz", "x/y", `unknown setting "modelz": did you mean "model"?`},
		{"limits.cpus", "1", `did you mean "limits.cpu"?`},
		{"prices.a/b.inputs", "1", `did you mean "prices.a/b.input"?`},
		{"zzzzzzzzzzz", "1", `unknown setting "zzzzzzzzzzz"`},
		{"limits", "1", "unknown setting"},
		{"max_turns", "many", `"many" is not a whole number`},
		{"max_turns", "-1", "cannot be negative"},
		{"context.compact_at", "7", "compact_at is a part"},
		{"context.compact", "yes", "is not true or false"},
		{"permission_mode", "paln", "is unknown"},
		{"permission_mode", "bypassPermissions", "only a flag"},
		{"permissions.allow", "Bash(", "Bash("},
		{"permissions.allow", "Reed", "did you mean Read?"},
		{"secrets", "$X", "is no name of an environment variable"},
		{"limits.cpu", "2m", "changed by hand"},
		{"model", "a\nb = 1", ""},
	} {
		err := settings.Set(file, c.key, c.value)
		if c.want == "" {
			if v, oerr := settings.Origins(file, ""); err != nil || oerr != nil || len(v) != 2 {
				t.Errorf("%s = %q: %v, %v", c.key, c.value, err, v)
			}
			continue
		}
		if got, _ := os.ReadFile(file); err == nil || !strings.Contains(err.Error(), c.want) || string(got) != old {
			t.Errorf("%s = %q: %v, want %q; the file is %q", c.key, c.value, err, c.want, got)
		}
	}
}

// Each value tells where it comes from, whether it holds, and if not, why.
func TestOrigins(t *testing.T) {
	top := t.TempDir()
	user := write(t, filepath.Join(top, "user", "config.toml"), "# c\nmodel = \"a/b\"\nmax_turns = 5\n[permissions]\nallow = [\"Read\"]\n")
	dir := filepath.Join(top, "p", "q")
	write(t, filepath.Join(dir, ".perdure", "config.toml"), "model = \"c/d\"\nmax_turns = 9\nsecrets = [\"S\"]\n[permissions]\nallow = [\"Bash\"]\n")
	write(t, filepath.Join(top, "p", ".perdure", "config.toml"), "max_turns = 2\n[limits]\nwall = \"1h\"\n[knowledge]\nproject = \"on\"\n")
	values, err := settings.Origins(user, dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range values {
		s := v.Key + " " + v.Source
		if v.Holds {
			s += " holds"
		}
		got = append(got, strings.TrimSpace(s+" "+v.Why))
		if v.Line == 0 {
			t.Errorf("%+v has no line", v)
		}
	}
	want := []string{
		"model user holds", "model project the project is not trusted",
		"max_turns user another file's is tighter", "max_turns project another file's is tighter", "max_turns project holds",
		"secrets project holds", "knowledge.project project a project may not set it", "limits.wall project holds",
		"permissions.allow user holds", "permissions.allow project the project is not trusted",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A project's file widens nothing until a person trusts it as it is; changed, it is open again; refused, nobody is asked.
func TestTrust(t *testing.T) {
	top := t.TempDir()
	user := filepath.Join(top, "conf", "config.toml")
	dir := filepath.Join(top, "p")
	file := write(t, filepath.Join(dir, ".perdure", "config.toml"), "model = \"c/d\"\npermission_mode = \"acceptEdits\"\n[prices.\"c/d\"]\ninput = 0\noutput = 0\n[permissions]\nallow = [\"Bash(make)\"]\ndeny = [\"Read(.env)\"]\n")
	load := func() settings.Loaded {
		t.Helper()
		l, err := settings.Load(user, dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	allows := func(l settings.Loaded) bool {
		return slices.Contains(l.Rules, permission.Rule{Effect: permission.Allow, Text: "Bash(make)", Source: permission.SourceTrusted})
	}
	l := load()
	if allows(l) || l.Model != "" || len(l.Untrusted) != 1 || strings.Join(l.Untrusted[0].Would, ", ") != "allow Bash(make), model c/d, permission_mode acceptEdits" {
		t.Fatalf("%+v", l)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !strings.Contains(l.Ignored[0], "until you trust it: perdure trust "+real) {
		t.Errorf("%v %q", err, l.Ignored)
	}
	asked := l.Untrusted[0]
	if err := settings.Decide(user, asked, false, time.Now()); err != nil {
		t.Fatal(err)
	}
	if l := load(); allows(l) || len(l.Untrusted) != 1 || !l.Untrusted[0].Refused {
		t.Errorf("refused: %+v", l)
	}
	if err := settings.Decide(user, asked, true, time.Now()); err != nil {
		t.Fatal(err)
	}
	l = load()
	if !allows(l) || l.Model != "c/d" || l.Mode != "acceptEdits" || len(l.Untrusted) != 0 || len(l.PriceList()) != 0 {
		t.Errorf("trusted: %+v", l)
	}
	if info, err := os.Stat(settings.TrustFile(user)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	write(t, user, "model = \"mine/m\"\npermission_mode = \"plan\"\n")
	if l := load(); l.Model != "mine/m" || l.Mode != "plan" || !allows(l) {
		t.Errorf("what the user says gave way: %+v", l)
	}
	link := filepath.Join(top, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if l, err := settings.Load(user, link); err != nil || !allows(l) {
		t.Errorf("by another path: %v", err)
	}
	text, _ := os.ReadFile(file)
	write(t, file, string(text)+"# changed\n")
	if l := load(); allows(l) || len(l.Untrusted) != 1 || l.Untrusted[0].Refused {
		t.Errorf("changed: %+v", l)
	}
	if err := settings.Decide(user, asked, true, time.Now()); err != nil || allows(load()) {
		t.Errorf("what was not shown is trusted: %v", err)
	}
	write(t, file, string(text))
	if was, err := settings.Revoke(user, link); err != nil || !was || allows(load()) {
		t.Errorf("revoked: %v %v", was, err)
	}
	write(t, file, "permission_mode = \"bypassPermissions\"\n")
	l = load()
	if err := settings.Decide(user, l.Untrusted[0], true, time.Now()); err != nil {
		t.Fatal(err)
	}
	if l := load(); l.Mode != "plan" || !strings.Contains(strings.Join(l.Ignored, " "), "bypassPermissions") {
		t.Errorf("bypass: %q %q", l.Mode, l.Ignored)
	}
	write(t, settings.TrustFile(user), "nonsense")
	if l := load(); len(l.Untrusted) != 1 || !strings.Contains(l.Ignored[0], "no project is trusted: "+settings.TrustFile(user)+" cannot be read") {
		t.Errorf("broken: %+v", l)
	}
	if err := settings.Decide(user, asked, true, time.Now()); !errors.Is(err, settings.ErrConfig) {
		t.Errorf("a file that is not understood was replaced: %v", err)
	}
	write(t, file, "[permissions]\ndeny = [\"Bash\"]\n")
	if l := load(); len(l.Untrusted) != 0 {
		t.Errorf("a file that only narrows is asked about: %+v", l.Untrusted)
	}
}
