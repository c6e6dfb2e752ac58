package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// A project's rules hold in its subdirectories, and for a session that is resumed from elsewhere; a change of them is told.
func TestProjectRulesHoldEverywhere(t *testing.T) {
	w := newWorld(t)
	w.project("[permissions]\ndeny = [\"Read(secret.txt)\", \"Bash(touch:*)\"]\n")
	w.write(filepath.Join(w.work, "secret.txt"), "hidden-canary\n")
	sub := filepath.Join(w.work, "a", "b")
	w.write(filepath.Join(sub, ".git", "HEAD"), "ref: refs/heads/x\n") // a repository of its own is no way out
	steps := []step{calls(call{"Read", map[string]any{"file_path": filepath.Join(w.work, "secret.txt")}}, bash("touch "+w.work+"/made"))}
	in := func(dir string, args ...string) outcome {
		cmd := w.command(args...)
		cmd.Dir = dir
		return w.finish(cmd)
	}
	if o := in(sub, run1("below", w.model(steps...), bypass)...); o.code != 0 {
		t.Errorf("%s", o)
	}
	w.want(0, run1("top", w.model(step{Text: "first"}, steps[0], step{Text: "second"}, steps[0], step{Text: "third"}))...)
	if o := in(w.root, "-p", "-r", "top", bypass, "again"); o.code != 0 || strings.Contains(o.stderr, "rules of the configuration") {
		t.Errorf("from elsewhere: %s", o)
	}
	if o := w.perdure("-p", "-c", bypass, "again"); o.code != 0 {
		t.Errorf("-c: %s", o)
	}
	for _, id := range []string{"below", "top"} {
		if out := w.want(0, "show", id, "--messages", "--json").out; strings.Contains(out, "hidden-canary") || !strings.Contains(out, "denied by the rule") {
			t.Errorf("%s read what is denied", id)
		}
	}
	if exists(filepath.Join(w.work, "made")) {
		t.Error("a denied command ran")
	}
	if err := os.Remove(filepath.Join(w.work, ".perdure", "config.toml")); err != nil {
		t.Fatal(err)
	}
	o := w.want(0, "-p", "-r", "top", "again")
	if !strings.Contains(o.stderr, "gone: deny Read(secret.txt) (project), deny Bash(touch:*) (project)") {
		t.Errorf("that rules are gone is not told: %s", o)
	}
	w.project("[permissions]\nask = [\"Bash(ls:*)\"]\n")
	if o := w.want(0, "-p", "-r", "top", "again"); !strings.Contains(o.stderr, "added: ask Bash(ls:*) (project)") {
		t.Errorf("that a rule came is not told: %s", o)
	}
}

// A home that belongs to another user is not changed by root; looking at it is free.
func TestRootLeavesForeignHomes(t *testing.T) {
	if os.Getuid() != 0 {
		needs.Not(t, "not root")
	}
	w := newWorld(t)
	w.want(0, run1("s", w.model())...)
	if err := filepath.Walk(w.home, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, 65534, 65534)
	}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{run1("new", w.model()), {"-p", "-r", "s", "x"}, {"send", "s", "x"}, {"delete", "s", "--yes"}, {"task", "run", "--", "true"}} {
		if o := w.want(1, args...); !strings.Contains(o.stderr, "sudo -u") || !strings.Contains(o.stderr, w.home) {
			t.Errorf("%s", o)
		}
	}
	w.want(0, "list")
	w.want(0, "show", "s")
}

// A key is not sent over the network unencrypted without a word.
func TestPlainHTTPIsTold(t *testing.T) {
	w := newWorld(t)
	for base, told := range map[string]bool{"http://203.0.113.9": true, "http://models.example": true, "http://127.0.0.1:1": false, "http://localhost:1": false, "https://127.0.0.1:1": false} {
		w.env = []string{"ANTHROPIC_API_KEY=sk-ant-0123456789abcdef", "ANTHROPIC_BASE_URL=" + base, "HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1"}
		cmd := w.command("-p", "--model", "anthropic/claude-sonnet-5-5", "--max-budget-usd", "0.000001", "go")
		if o := w.finish(cmd); strings.Contains(o.stderr, "unencrypted") != told {
			t.Errorf("%s: %s", base, o)
		}
	}
}
