package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sessionIn makes a session in a directory, which is made, with a script of its own that only talks.
func (w *terminal) sessionIn(dir, id string) {
	w.t.Helper()
	script := filepath.Join(filepath.Dir(w.exe), "talks.json")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte(`{"turns":[{"steps":[{"text":"said"}]}]}`), 0o600); err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(w.exe, "-p", "--session-id", id, "--model", "scripted/"+script, "go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PERDURE_HOME="+w.home, "XDG_CONFIG_HOME="+filepath.Join(filepath.Dir(w.exe), "conf"))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// onScreen opens the screen in a directory.
func (w *terminal) onScreen(dir, args string) {
	w.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "100", "-y", "30", "-c", dir,
		"XDG_CONFIG_HOME='"+filepath.Join(filepath.Dir(w.exe), "conf")+"' PERDURE_HOME='"+w.home+"' '"+w.exe+"' "+args+"; echo \"left with $?\"; exec cat")
}

// Flags are for the session that they were given with: what a person goes to from there keeps the rules, the directories,
// the mode and the limits that it had.
func TestFlagsAreForOneSession(t *testing.T) {
	w := newTerminal(t)
	dir := filepath.Dir(w.exe)
	w.sessionIn(filepath.Join(dir, "a"), "one")
	w.sessionIn(filepath.Join(dir, "b"), "two")
	before := w.perdure("permissions", "list", "two", "--json")
	w.onScreen(filepath.Join(dir, "a"), "-r one --allowed-tools 'Bash(rm:*)' --add-dir / --permission-mode acceptEdits --max-turns 77")
	w.shows("the first session, with its flags", has("said", "acceptEdits"))
	w.press("-l", "/resume two ")
	w.press("Enter")
	w.shows("the other one", func(s string) bool { return has("said", "default")(s) && !strings.Contains(s, "acceptEdits") })
	w.press("C-d")
	w.shows("it has left", has("left with 0", "perdure -r two"))
	if after := w.perdure("permissions", "list", "two", "--json"); after != before {
		t.Errorf("what the other session may do:\n%s\nwas\n%s", after, before)
	}
	for _, words := range []string{"rm:*", `"add_directories":["/"]`, "acceptEdits", `"max_steps":77`} {
		if strings.Contains(w.perdure("log", "two", "--json"), words) {
			t.Errorf("the log of the other session has %s", words)
		}
		if !strings.Contains(w.perdure("log", "one", "--json"), words) {
			t.Errorf("the log of the session that the flags were for has no %s", words)
		}
	}
}

// A session that goes on in another directory is under the rules of that one, on the screen as without it.
func TestRulesOfTheDirectoryThatASessionGoesOnIn(t *testing.T) {
	w := newTerminal(t)
	dir := filepath.Dir(w.exe)
	w.sessionIn(filepath.Join(dir, "a"), "one")
	if err := os.MkdirAll(filepath.Join(dir, "b", ".perdure"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b", ".perdure", "config.toml"), []byte("[permissions]\ndeny = [\"Read(secret.txt)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.onScreen(dir, "-r one --cwd b")
	w.shows("the session", has("said"))
	w.press("C-d")
	w.shows("it has left", has("left with 0"))
	if got := w.perdure("permissions", "list", "one"); !strings.Contains(got, "secret.txt") {
		t.Errorf("the rules of the directory are not there:\n%s", got)
	}
}
