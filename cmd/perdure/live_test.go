package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: a person sees on a real terminal what a run does while it does it: the session first, the text as it comes, a
// command while it runs and its outcome on the same line, whatever the terminal's width.
func TestLiveView(t *testing.T) {
	w := newTerminal(t)
	dir := filepath.Dir(w.home)
	script := `{"turns":[{"match":"","steps":[
	 {"text":"I look at the things that are here before I do anything else with them.","tools":[{"name":"Bash","input":{"command":"until [ -e go ]; do sleep 0.05; done; echo seen by a command with quite a long line of text in it"}}]},
	 {"text":"All done."}]}]}`
	if err := os.WriteFile(filepath.Join(dir, "model.json"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	w.tmux("-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";", "new-session", "-d", "-s", "w", "-x", "60", "-y", "20",
		"cd '"+dir+"' && PERDURE_HOME='"+w.home+"' exec '"+w.exe+"' -p --session-id s --name 'the run' --model scripted/model.json --dangerously-skip-permissions 'go on'")
	w.shows("the command runs", has("session s  the run\n", "I look at the things that are here before I do anything\nelse with them.\n", "  Bash       until [ -e go ];"))
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	screen := w.shows("it is done", func(s string) bool {
		return has("All done.\n")(s) && w.tmux("display-message", "-t", "w", "-p", "#{pane_dead}") == "1\n"
	})
	for line := range strings.Lines(screen) {
		if strings.Contains(line, "Bash ") && !strings.Contains(line, "→ ") {
			t.Errorf("the outcome is elsewhere:\n%s", screen)
		}
	}
	if strings.Count(screen, "All done.") != 1 || strings.Contains(screen, "perdure:") {
		t.Errorf("the answer twice, or noise:\n%s", screen)
	}
}
