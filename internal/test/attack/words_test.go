package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: on the whole way through the binary, words that name a denied or protected file in another spelling are held:
// the call waits, and what it would have read or made is not there.
func TestOtherSpellingsOfAFile(t *testing.T) {
	for _, c := range []struct{ name, rules, command string }{
		{"excluded read", "Bash(cat:*)", "cat -- --exclude .env"},
		{"excluded write", "Bash(touch:*)", "touch -- --exclude .git/hooks/made"},
		{"excluded home", "Bash(touch:*)", "touch -- --exclude ../home/made"},
		{"pattern", "Bash(cat:*)", "cat .en?"},
		{"class", "Bash(cat:*)", "cat .[!.]*"},
		{"directory pattern", "Bash(cat:*)", "cat s*/key"},
		{"braces", "Bash", "cat .e{n,}v"},
		{"working directory", "Bash", `cat "${PWD}"/.en?`},
		{"proc", "Bash(cat:*)", "cat /proc/self/cwd/.env"},
		{"dev", "Bash(cat:*)", "cat /dev/fd/../cwd/.env"},
		{"root of proc", "Bash(touch:*)", "touch /proc/self/root{HOME}/made"},
		{"cluster", "Bash(git commit:*),Bash(git log:*)", "git commit --allow-empty -qF.env && git log -1"},
		{"grep -I", "Bash(grep:*)", "grep . -I .env"},
		{"temporary directory", "Bash", "touch $TMPDIR/../../made"},
		{"cd", "Bash", "cd $TMPDIR/../..; touch made"},
		{"act", "Bash", "touch $PERDURE_ACT/../../../made"},
		{"printenv", "Bash", "touch $(printenv PERDURE_HOME)/made"},
		{"alternatives", "Bash", "touch ../{home,}/made"},
		{"variable", "Bash", "x=home; touch ../$x/made"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(filepath.Join(w.work, ".env"), "the-secret\n")
			w.write(filepath.Join(w.work, "secrets", "key"), "the-secret\n")
			w.write(filepath.Join(w.work, ".git", "hooks", "x"), "")
			command := strings.ReplaceAll(c.command, "{HOME}", w.home)
			args := run1("s", w.model(calls(bash(command))), "--allowed-tools", c.rules, "--disallowed-tools", "Read(.env),Read(secrets/**)")
			if o := w.perdure(args...); o.code != 3 {
				t.Errorf("not held: %s", o)
			}
			for _, r := range w.results("s") {
				if strings.Contains(r, "the-secret") {
					t.Errorf("the denied file was read: %s", r)
				}
			}
			for _, made := range []string{filepath.Join(w.home, "made"), filepath.Join(w.work, ".git", "hooks", "made")} {
				if exists(made) {
					t.Errorf("%s was made", made)
				}
			}
		})
	}
}

// Goal: a home that is reached by a symbolic link is protected under both of its names, and rules under ~/ hold for both.
func TestHomeBehindALink(t *testing.T) {
	w := newWorld(t)
	real := filepath.Join(w.root, "real")
	if err := os.Rename(w.user, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, w.user); err != nil {
		t.Fatal(err)
	}
	w.home = filepath.Join(w.user, "perdure")
	w.write(filepath.Join(real, ".aws", "credentials"), "the-secret\n")
	w.write(filepath.Join(w.user, ".config", "perdure", "config.toml"), "protect = [\"~/notes\"]\n[permissions]\ndeny = [\"Read(~/.aws/**)\"]\n")
	w.work = filepath.Join(real, "work")
	if err := os.Mkdir(w.work, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, c := range []call{
		{"Read", map[string]any{"file_path": filepath.Join(real, ".aws", "credentials")}},
		{"Read", map[string]any{"file_path": "../.aws/credentials"}},
		{"Grep", map[string]any{"pattern": "secret", "path": filepath.Join(real, ".aws"), "output_mode": "content"}},
		bash("cat ../.aws/credentials"),
		{"Write", map[string]any{"file_path": "../notes/made", "content": "x"}},
		{"Write", map[string]any{"file_path": filepath.Join(real, "perdure", "made"), "content": "x"}},
		bash("touch ../perdure/made"),
		bash("touch " + filepath.Join(real, "perdure", "made")),
	} {
		id := "s" + string(rune('a'+i))
		o := w.perdure(run1(id, w.model(calls(c)), bypass)...)
		if o.code != 3 && o.code != 0 {
			t.Errorf("%v: %s", c.Input, o)
		}
		for _, r := range w.results(id) {
			if strings.Contains(r, "the-secret") {
				t.Errorf("%v: the denied file was read: %s", c.Input, r)
			}
		}
	}
	for _, made := range []string{filepath.Join(real, "perdure", "made"), filepath.Join(real, "notes", "made")} {
		if exists(made) {
			t.Errorf("%s was made", made)
		}
	}
}
