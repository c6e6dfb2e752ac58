package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
)

func TestVersionAndCompletion(t *testing.T) {
	w := clitest.New(t)
	if v := clitest.Lines(t, w.OK("version", "--json"))[0]; v["version"] == "" || v["codec"] != 1.0 {
		t.Errorf("version: %v", v)
	}
	if out := w.OK("version"); !strings.HasPrefix(out, "perdure ") {
		t.Errorf("version: %q", out)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out := w.OK("completion", shell); !strings.Contains(out, "perdure") {
			t.Errorf("completion %s: %q", shell, out)
		}
	}
	w.Fails(2, "want bash", "completion", "tcsh")
	w.Create("complete-me")
	if out := w.OK("__complete", "show", "comp"); !strings.HasPrefix(out, "complete-me") {
		t.Errorf("completes to %q", out)
	}
	if out := w.OK("__complete", "approv"); !strings.HasPrefix(out, "approvals") {
		t.Errorf("completes to %q", out)
	}
}

// Every command has words for people, and a group says what it needs.
func TestHelp(t *testing.T) {
	w := clitest.New(t)
	var names []string
	for _, c := range cli.Commands(w.App) {
		names = append(names, c.Name())
		if c.Short == "" {
			t.Errorf("%s has no description", c.Name())
		}
		w.OK(c.Name(), "--help")
	}
	help := w.OK("--help")
	for _, want := range []string{"PERDURE_HOME", "~/.local/share/perdure", "~/.config/perdure/config.toml", "perdure -p [PROMPT] [flags]"} {
		if !strings.Contains(help, want) {
			t.Errorf("--help does not name %s", want)
		}
	}
	if slices.Contains(names, "") || len(names) < 15 {
		t.Errorf("commands: %v", names)
	}
	w.Fails(2, "needs one of: run, list, output, kill", "task")
	w.Fails(2, `got "fly"`, "task", "fly")
	w.Fails(2, "needs one of", "approvals")
	w.Fails(2, "needs one of", "permissions")
}
