package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A paused session goes on when it is resumed; a closed one says that it does not, and takes nothing in silence.
func TestPausedAndClosed(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("sh -c 'echo ran'")))
	w.want(3, run1("s", m)...)
	w.want(0, "approvals", "allow", "s")
	w.want(0, "pause", "s")
	if o := w.want(0, "-p", "-r", "s"); !strings.Contains(o.stderr, "paused") || !strings.Contains(o.out, "The end.") {
		t.Errorf("resumed after a pause: %s", o)
	}
	if got := w.results("s"); len(got) != 1 || !strings.Contains(got[0], "ran") {
		t.Errorf("%q", got)
	}
	w.want(0, run1("newer", m, bypass)...)
	w.want(0, "close", "newer")
	before := w.want(0, "log", "newer", "--json").out
	if o := w.want(1, "-p", "-r", "newer", "more"); !strings.Contains(o.stderr, "closed") || !strings.Contains(o.stderr, "--fork-session") {
		t.Errorf("resumed after its end: %s", o)
	}
	if after := w.want(0, "log", "newer", "--json").out; after != before {
		t.Error("a closed session took something")
	}
	w.want(0, "-p", "-c", "the one before")
	if got := w.lastPrompt("s"); got != "the one before" {
		t.Errorf("-c did not take the newest open session: %q", got)
	}
	w.want(0, "-p", "-r", "newer", "--fork-session", "--session-id", "child", "go on")
	w.verify("newer")
	w.verify("child")
}

// A mode of the configuration that is none stops the run; bypass is not taken from a file, and that is said. A prompt
// that has to wait is named.
func TestConfiguredMode(t *testing.T) {
	w := newWorld(t)
	config := filepath.Join(w.user, ".config", "perdure", "config.toml")
	m := w.model(calls(bash("touch made")))
	w.write(config, "permission_mode = \"yolo\"\n")
	if o := w.want(2, run1("s", m)...); !strings.Contains(o.stderr, "yolo") {
		t.Error(o)
	}
	w.write(config, "permission_mode = \"bypassPermissions\"\n")
	if o := w.want(3, run1("s", m)...); !strings.Contains(o.stderr, "bypassPermissions") || exists(filepath.Join(w.work, "made")) {
		t.Errorf("a file took all barriers away, or in silence did not: %s", o)
	}
	if o := w.want(3, "-p", "-r", "s", "and then"); !strings.Contains(o.stderr, "wait for the open turn's end: 1") {
		t.Errorf("the prompt that waits is not named: %s", o)
	}
	w.write(config, "permission_mode = \"plan\"\n")
	w.want(0, run1("plan", m)...)
	if exists(filepath.Join(w.work, "made")) {
		t.Error("plan mode made a file")
	}
}

// The configuration that the README shows is one that perdure takes, all of it for the user and the most for a project.
func TestConfigurationOfREADME(t *testing.T) {
	w := newWorld(t)
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```toml\n")
	toml, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README shows no configuration")
	}
	m := w.model(calls(bash("make test"), bash("make other")))
	w.write(filepath.Join(w.work, "Makefile"), "test other:\n\ttouch $@ed\n")
	w.write(filepath.Join(w.user, ".config", "perdure", "config.toml"), toml)
	w.want(3, run1("user", m)...)
	if !exists(filepath.Join(w.work, "tested")) || exists(filepath.Join(w.work, "othered")) {
		t.Error("the allow rule does not allow, or too much")
	}
	w.write(filepath.Join(w.user, ".config", "perdure", "config.toml"), "")
	w.project(toml)
	if o := w.want(3, run1("project", m)...); !strings.Contains(o.stderr, "2 allow rules") {
		t.Errorf("what a project may not say is not named: %s", o)
	}
}
