package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a model says steers nothing on the screen: no title, no clipboard, no colour. What a person copies from it is what
// they saw: no end of a paste, and nothing that was drawn over.
func TestAHostileModelOnTheScreen(t *testing.T) {
	w := newTerminal(t)
	dir := filepath.Dir(w.exe)
	const evil = "seen \x1b]0;pwned\a\x1b]52;c;cHduZWQ=\a\x1b[2J\x1b[31m\u009b31m\x1bPq\x1b\\over\rdrawn \x1b[201~\u202ethe end"
	type object = map[string]any
	text, err := json.Marshal(object{"turns": []object{{"steps": []object{{"text": evil}}}}})
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "model.json")
	if err := os.WriteFile(script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	w.onScreen(dir, "--model 'scripted/"+script+"'")
	w.tmux("set", "-s", "set-clipboard", "on")
	w.shows("the screen", has("what is to be done?"))
	w.press("-l", "go")
	w.press("Enter")
	w.shows("the words", has("the end", "seen"))
	w.shows("it is done", func(s string) bool { return !strings.Contains(s, "thinking") && !strings.Contains(s, "answering") })
	if out, err := exec.Command("tmux", "-S", w.sock, "show-buffer").Output(); err == nil {
		t.Errorf("the model wrote to the clipboard: %q", out)
	}
	if title := w.tmux("display-message", "-t", "w", "-p", "#{pane_title}#{mouse_any_flag}"); strings.Contains(title, "pwned") || strings.Contains(title, "1\n") {
		t.Errorf("the model steered the terminal: %q", title)
	}
	w.press("Tab")
	w.shows("an item is selected", has("y copy"))
	var copied []string
	for _, end := range []string{"g", "G"} { // the message and the words
		w.press(end, "y")
		for range 200 {
			out, err := exec.Command("tmux", "-S", w.sock, "show-buffer").Output()
			if err == nil && !slices.Contains(copied, string(out)) {
				copied = append(copied, string(out))
				break
			}
			<-time.After(50 * time.Millisecond)
		}
	}
	if !slices.Contains(copied, "seen overdrawn the end") {
		t.Errorf("copied: %q", copied)
	}
	w.press("Escape")
	w.shows("nothing is selected", func(s string) bool { return !strings.Contains(s, "y copy") })
	w.press("C-d")
	w.shows("it has left", has("left with 0"))
}
