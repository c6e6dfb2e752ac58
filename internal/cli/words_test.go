package cli

import (
	"strings"
	"testing"
)

// Goal: a first word that is no command is named as such, with what comes nearest or does the same here; it is never
// taken for a prompt.
func TestNoSuchCommand(t *testing.T) {
	w := newWorld(t)
	for word, hint := range map[string]string{
		"archive": "perdure close", "lst": "list", "resume": "-p --resume", "handoff": "--help lists", "prompt": "perdure -p \"PROMPT\"", "sessoins": "nearest: sessions, which is here: perdure list", "archived": "nearest: archive,", "ps": "perdure task list",
		"fix the tests": "a prompt goes with -p",
	} {
		if o := w.run(word); (word == "prompt" || word == "archive") && (strings.Contains(o.stderr, "delete") || strings.Contains(o.stderr, "nearest")) {
			t.Errorf("%s: %+v", word, o)
		}
		o := w.run(word, "x")
		if o.code != exitUsage || !strings.Contains(o.stderr, "no such command: "+word) || !strings.Contains(o.stderr, hint) {
			t.Errorf("%s: %+v", word, o)
		}
	}
}

// Goal: the version is asked for as in any other program.
func TestVersionFlags(t *testing.T) {
	w := newWorld(t)
	want := w.ok("version")
	for _, flag := range []string{"--version", "-v"} {
		if got := w.ok(flag); got != want {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
	}
}

// Goal: a prompt may begin with a dash, wherever it stands, and may be the name of a command.
func TestDashPrompts(t *testing.T) {
	w := newWorld(t)
	m := w.scripted(`{"turns":[{"match":"","steps":[{"text":"1"},{"text":"2"},{"text":"3"},{"text":"4"},{"text":"5"},{"text":"6"}]}]}`)
	w.ok("-p", "- do this", "--session-id", "s", "--append-system-prompt", "- be brief", "--model", m)
	w.ok("-p", "-c", "-- also = this")
	w.ok("-p", "-r", "s", "--output-format", "json", "- and this")
	w.ok("-pc", "list")
	w.ok("-p", "-c", "--", "-x")
	got := strings.Join(w.prompts("s"), "|")
	if want := "- do this|-- also = this|- and this|list|-x"; got != want {
		t.Errorf("prompts %q, want %q", got, want)
	}
	if out := w.ok("log", "s", "--json"); !strings.Contains(out, `\n\n- be brief`) {
		t.Error("the flag lost its value")
	}
	w.fails(exitUsage, "unknown flag: --modl", "-p", "--modl", "x")
}
