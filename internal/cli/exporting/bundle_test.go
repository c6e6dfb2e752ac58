package exporting_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// On a pipe, and in a file of that name, it is a bundle; a terminal is never shown one.
func TestWhatIsABundle(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	const begins = "perdure-bundle\n\x01"
	if b := w.OK("export", "one"); !strings.HasPrefix(b, begins) {
		t.Errorf("on a pipe: %.40q", b)
	}
	o := w.Run("export", "one", "-o", "x.perdure")
	b, err := os.ReadFile(filepath.Join(w.Dir, "x.perdure"))
	if err != nil || o.Stdout != "" || !strings.HasPrefix(string(b), begins) || !strings.Contains(o.Stderr, "session one up to event") {
		t.Errorf("%.40q, %v, %+v", b, err, o)
	}
	if info, err := os.Stat(filepath.Join(w.Dir, "x.perdure")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	w.App.Screen = true
	if text := w.OK("export", "one"); strings.HasPrefix(text, begins) || !strings.Contains(text, "# ") {
		t.Errorf("on a terminal: %.40q", text)
	}
	w.Fails(2, "no text for a terminal", "export", "one", "--format", "bundle")
}

// Secrets that are in a bundle are counted on stderr, unless they are meant to be there; with their replacement it is
// another log.
func TestSecretsOfABundle(t *testing.T) {
	w := clitest.New(t)
	shaped := "sk-" + "ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7xY9z"
	prompts(w, "one", text("use "+shaped))
	if o := w.Run("export", "one"); !strings.Contains(o.Stderr, "1 secret in it, in plain") {
		t.Errorf("stderr: %s", o.Stderr)
	}
	if o := w.Run("export", "one", "--secrets", "keep"); o.Stderr != "" {
		t.Errorf("stderr: %s", o.Stderr)
	}
	w.OK("export", "one", "--secrets", "redact", "-o", "clean.perdure")
	to := w.InHome(filepath.Join(t.TempDir(), "there"))
	if o := to.Run("import", "clean.perdure"); o.Code != 0 || !strings.Contains(o.Stderr, "secrets were replaced in it") {
		t.Errorf("%+v", o)
	}
	if log := to.OK("log", "one", "--json"); strings.Contains(log, shaped) {
		t.Errorf("it is in the log: %s", log)
	}
	w.Fails(2, "contradict", "export", "one", "--secrets", "redact", "--with-secrets")
	w.Fails(2, "keep or redact", "export", "one", "--secrets", "some")
	w.Fails(2, "go with a bundle", "export", "one", "--format", "md", "--recipient", "age1x")
	w.Fails(2, "public keys of age", "export", "one", "--recipient", "age1x")
}

// self is a command of a shell that runs perdure in another home, with the input that it is given.
func self(t *testing.T, w *clitest.World, home string, args ...string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "there.sh")
	clitest.WriteFile(t, script, "PERDURE_HOME='"+home+"' CLI_TEST_ARGS='"+strings.Join(args, "\n")+"' exec '"+exe+"'\n")
	return "sh '" + script + "'"
}

// Goal: a session that moves is closed here once the other side has said that it has all of it, and never before.
func TestMoveTo(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	home := filepath.Join(t.TempDir(), "there")
	lifecycle := func(w *clitest.World) any { return clitest.Lines(t, w.OK("show", "one", "--json"))[0]["lifecycle"] }
	for words, command := range map[string]string{
		"did not say that it has it": "cat >/dev/null; echo imported one 1 0000",
		"was not moved":              "cat >/dev/null; exit 3",
		"ended with":                 "true",
	} {
		o := w.Run("export", "one", "--move-to", command)
		if o.Code == 0 || lifecycle(w) != "open" {
			t.Errorf("%s: %+v", command, o)
		}
		if command != "true" && !strings.Contains(o.Stderr, words) { // that one may be gone before it is written to, or after
			t.Errorf("%s: %s", command, o.Stderr)
		}
	}
	o := w.Run("export", "one", "--move-to", self(t, w, home, "import", "-", "--dir", filepath.Join(w.Dir, "new")))
	if o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "and closed here") {
		t.Fatalf("%+v", o)
	}
	to := w.InHome(home)
	if lifecycle(w) != "closed" || lifecycle(to) != "open" {
		t.Errorf("here %v, there %v", lifecycle(w), lifecycle(to))
	}
	w.Fails(1, "it does not move", "export", "one", "--move-to", "true")
	w.Fails(2, "use one of them", "export", "one", "--move-to", "true", "-o", "x.perdure")
}

// Goal: whatever goes wrong on the other side, the session is open here as before and goes on: a target that dies, that has
// no room, that is cut off from what it is sent, that takes it and fails afterwards, that says much and nothing of use.
func TestAMoveThatGoesWrongChangesNothing(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	dir := t.TempDir()
	head := w.OK("show", "one", "--json")
	for name, command := range map[string]string{
		"dies":                  "head -c 100 >/dev/null; kill -9 $$",
		"has no room":           "ulimit -f 8; trap '' XFSZ; " + self(t, w, filepath.Join(dir, "full"), "import", "-", "--dir", filepath.Join(dir, "a")),
		"is cut off":            "head -c 1000 | " + self(t, w, filepath.Join(dir, "cut"), "import", "-", "--dir", filepath.Join(dir, "b")),
		"gets something else":   "(cat; echo more) | " + self(t, w, filepath.Join(dir, "more"), "import", "-", "--dir", filepath.Join(dir, "c")),
		"fails afterwards":      "(" + self(t, w, filepath.Join(dir, "then"), "import", "-", "--dir", filepath.Join(dir, "d")) + "); exit 1",
		"says that it failed":   self(t, w, filepath.Join(dir, "not"), "import", "-", "--dir", filepath.Join(dir, "e")) + " | sed s/imported/refused/",
		"says it of another":    self(t, w, filepath.Join(dir, "other"), "import", "-", "--dir", filepath.Join(dir, "f")) + " | sed s/one/two/",
		"says it of less":       self(t, w, filepath.Join(dir, "less"), "import", "-", "--dir", filepath.Join(dir, "g")) + " | sed -E 's/one [0-9]+/one 1/'",
		"says it in a sentence": "(printf 'it is not '; " + self(t, w, filepath.Join(dir, "text"), "import", "-", "--dir", filepath.Join(dir, "h")) + ")",
		"says much first":       "(head -c 1000000 /dev/zero; " + self(t, w, filepath.Join(dir, "much"), "import", "-", "--dir", filepath.Join(dir, "i")) + ")",
		"takes nothing":         "exec <&-; sleep 0.1; echo imported",
		"is not there":          "/nowhere/at/all",
	} {
		o := w.Run("export", "one", "--move-to", command)
		if o.Code == 0 || o.Stdout != "" {
			t.Errorf("%s: %+v", name, o)
		}
		if now := w.OK("show", "one", "--json"); now != head {
			t.Errorf("%s: the session is another:\n%s\n%s", name, head, now)
		}
	}
	for _, name := range []string{"full", "cut", "more"} {
		if there := w.InHome(filepath.Join(dir, name)).OK("list", "--json"); there != "" && there != "[]\n" {
			t.Errorf("%s: there is %s", name, there)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	w.Append("one", store.Actor{Type: store.ActorUser}, &session.StateSet{Key: "still", Value: []byte("here")})
}

// What happens to a session while it moves keeps it open here.
func TestMoveOfASessionThatGoesOn(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("one")
	home := filepath.Join(t.TempDir(), "there")
	meanwhile := self(t, w, w.Home, "label", "one", "went=on")
	takes := self(t, w, home, "import", "-")
	w.Fails(5, "open in both places", "export", "one", "--move-to", takes+" && "+meanwhile+" >&2")
	if v := clitest.Lines(t, w.OK("show", "one", "--json"))[0]; v["lifecycle"] != "open" {
		t.Errorf("it is %v", v["lifecycle"])
	}
	w.Append("one", store.Actor{Type: store.ActorUser}, &session.StateSet{Key: "still", Value: []byte("here")})
}
