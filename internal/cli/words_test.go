package cli_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a first word that is no command is named as such, with what comes nearest or does the same here; it is never
// taken for a prompt.
func TestNoSuchCommand(t *testing.T) {
	w := clitest.New(t)
	for word, hint := range map[string]string{
		"archive": "perdure close", "lst": "list", "resume": "perdure -r [ID]", "wombat": "--help lists", "prompt": "perdure -p \"PROMPT\"", "sessoins": "nearest: sessions, which is here: perdure list", "archived": "nearest: archive,", "ps": "perdure task list",
		"fix the tests": "a prompt goes with -p",
	} {
		if o := w.Run(word); (word == "prompt" || word == "archive") && (strings.Contains(o.Stderr, "delete") || strings.Contains(o.Stderr, "nearest")) {
			t.Errorf("%s: %+v", word, o)
		}
		o := w.Run(word, "x")
		if o.Code != app.ExitUsage || !strings.Contains(o.Stderr, "no such command: "+word) || !strings.Contains(o.Stderr, hint) {
			t.Errorf("%s: %+v", word, o)
		}
	}
}

// Goal: the version is asked for as in any other program.
func TestVersionFlags(t *testing.T) {
	w := clitest.New(t)
	want := w.OK("version")
	for _, flag := range []string{"--version", "-v"} {
		if got := w.OK(flag); got != want {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
	}
}

// Goal: a prompt may begin with a dash, wherever it stands, and may be the name of a command.
func TestDashPrompts(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(`{"turns":[{"match":"","steps":[{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"},{"text":"5"},{"text":"6"}]}]}`)
	w.OK("-p", "- do this", "--session-id", "s", "--append-system-prompt", "- be brief", "--model", m)
	w.OK("-p", "-c", "-- also = this")
	w.OK("-p", "-r", "s", "--output-format", "json", "- and this")
	w.OK("-pc", "list")
	w.OK("-p", "-c", "--", "-x")
	got := strings.Join(w.Prompts("s"), "|")
	if want := "- do this|-- also = this|- and this|list|-x"; got != want {
		t.Errorf("prompts %q, want %q", got, want)
	}
	if out := w.OK("log", "s", "--json"); !strings.Contains(out, `\n\n- be brief`) {
		t.Error("the flag lost its value")
	}
	w.Fails(app.ExitUsage, "unknown flag: --modl", "-p", "--modl", "x")
}
