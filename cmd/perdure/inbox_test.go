package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Goal: on a real terminal, what was typed before the inbox was drawn answers nothing; a key that comes after a look does,
// in place; what another process answers meanwhile is told; leaving gives the terminal back as it was.
func TestInboxOnATerminal(t *testing.T) {
	w := newTerminal(t)
	dir := filepath.Dir(w.exe)
	for i := range 3 {
		script := filepath.Join(dir, fmt.Sprint("model", i, ".json"))
		text := fmt.Sprintf(`{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":"touch 日本語%d"}}]},{"text":"done"}]}]}`, i)
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(w.exe, "-p", "--session-id", fmt.Sprint("s", i), "--model", "scripted/"+script, "go")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PERDURE_HOME="+w.home, "XDG_CONFIG_HOME="+dir)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 3 {
			t.Fatalf("%v: %s", err, out)
		}
	}
	w.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "80", "-y", "24",
		"sleep 1; XDG_CONFIG_HOME='"+dir+"' PERDURE_HOME='"+w.home+"' '"+w.exe+"' inbox -i; echo \"left with $?\"; exec cat")
	w.press("y", "y", "Enter", "s", "n", "Right", "Enter", "y") // for a shell, before anything is drawn
	w.shows("what waits", has("Approval 1 of 3", "touch 日本語0", "touch 日本語1", "y once"))
	if got := w.perdure("approvals", "list", "--json"); strings.Count(got, "\n") != 3 {
		t.Fatalf("answered by keys that came before the look:\n%s", got)
	}
	<-time.After(600 * time.Millisecond) // a person looks
	w.press("y")
	w.shows("it is allowed, and the next is shown", has("allowed once", "Approval 1 of", "touch 日本語1"))
	if got := w.perdure("approvals", "list", "--json"); strings.Count(got, "\n") != 2 || strings.Contains(got, "日本語0") {
		t.Errorf("allowed in place:\n%s", got)
	}
	w.perdure("approvals", "deny", "s1")
	w.shows("another process has answered", has("answered meanwhile: denied by"))
	w.press("y", "Enter")
	w.shows("the last one", has("touch 日本語2"))
	w.tmux("resize-window", "-t", "w", "-x", "40", "-y", "12")
	w.shows("it fits a small terminal", has("touch 日本語2", "y once", "n no"))
	<-time.After(600 * time.Millisecond)
	w.press("w")
	w.shows("words are asked for", has("no, because:"))
	w.press("-l", "使わない y")
	w.shows("words", has("no, because: 使わない y"))
	w.press("Enter")
	w.shows("denied", has("denied"))
	if log := w.perdure("log", "s2", "--json"); !strings.Contains(log, "使わない y") {
		t.Errorf("the words are not in the log:\n%s", log)
	}
	w.press("q")
	w.shows("it has left", has("left with 0"))
	if modes := w.tmux("display-message", "-t", "w", "-p", "#{alternate_on}#{mouse_any_flag}#{cursor_flag}"); modes != "001\n" {
		t.Errorf("the terminal's modes afterwards: %q", modes)
	}
}
