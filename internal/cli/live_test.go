package cli

import (
	"strings"
	"testing"
)

// Goal: on a terminal a run is seen as it goes: first the session, then the text, one line for each tool call with its
// outcome, and no answer twice. What others wrote is text there.
func TestLiveView(t *testing.T) {
	w := newWorld(t)
	w.app.Screen, w.app.Terminal = true, true
	m := w.scripted(`{"turns":[{"match":"","steps":[
	 {"thinking":"Hm.","text":"I look at \u001b[31mit.\u001b]0;t\u0007","tools":[
	  {"name":"Bash","input":{"command":"echo one; echo two"}},
	  {"name":"Bash","input":{"command":"printf '\\033[31m%s' x; exit 3"}},
	  {"name":"Read","input":{"file_path":"missing"}}]},
	 {"text":"All\nseen."}]}]}`)
	w.app.Environ = append(w.app.Environ, "TERM=xterm")
	args := []string{"-p", "--session-id", "s", "--name", "a name", "--model", m, "--allowed-tools", "Bash(echo:*),Bash(printf:*),Bash(exit:*)", "look"}
	o := w.run(args...)
	if o.code != 0 || !strings.HasPrefix(o.stdout, "\x1b[2msession s  a name\x1b[0m\n") || o.stderr != "" {
		t.Fatalf("%+v", o)
	}
	args[2] = "s2"
	w.app.Environ = append(w.app.Environ, "NO_COLOR=1")
	got := strings.Split(w.ok(args...), "\n")
	want := []string{
		"session s2  a name", "(thinking)", "I look at it.", "Read       missing → error: no file", "echo one; echo two → 2 lines: one",
		"→ exit code 3: x\n", "All", "seen.", "",
	}
	for _, line := range want {
		if !strings.Contains(strings.Join(got, "\n"), line) {
			t.Errorf("no %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
	if strings.Count(strings.Join(got, "\n"), "seen.") != 1 || strings.ContainsAny(strings.Join(got, ""), "\x1b\a") {
		t.Errorf("%q", got)
	}
	for _, line := range got {
		if len([]rune(line)) > 79 {
			t.Errorf("wider than the terminal: %q", line)
		}
	}
}

// Goal: what the run waits for, and each of several turns, is seen on a terminal.
func TestLiveViewOfWaitsAndTurns(t *testing.T) {
	w := newWorld(t)
	w.app.Screen, w.app.Terminal = true, true
	w.app.Environ = append(w.app.Environ, "TERM=dumb")
	m := w.scripted(waitsTwice)
	o := w.fails(exitWaiting, "approvals allow s", "-p", "--session-id", "s", "--model", m, "both")
	if !strings.Contains(o.stdout, "touch made → waits for your approval\n") {
		t.Errorf("%s", o.stdout)
	}
	w.ok("approvals", "allow", "s")
	w.ok("send", "s", "more of it")
	o = w.fails(exitWaiting, "1. red", "-p", "-r", "s")
	if !strings.Contains(o.stdout, "touch made → ") || !strings.Contains(o.stdout, "I ask.") || !strings.Contains(o.stdout, "Which? → waits for your answer\n") {
		t.Errorf("%s", o.stdout)
	}
	w.ok("answer", "s", "1")
	if out := w.ok("-p", "-r", "s"); !strings.Contains(out, "It is done.\n\n> more of it\nMore.\n") {
		t.Errorf("%s", out)
	}
}
