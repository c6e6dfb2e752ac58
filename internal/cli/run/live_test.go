package run_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: on a terminal a run is seen as it goes: first the session, then the text, one line for each tool call with its
// outcome, and no answer twice. What others wrote is text there.
func TestLiveView(t *testing.T) {
	w := clitest.New(t)
	w.Configure("[files]\ncapture = false\n") // the directory is the user's home here, which would be told
	w.App.Screen, w.App.Terminal = true, true
	m := w.Scripted(`{"turns":[{"match":"","steps":[
	 {"thinking":"Hm.","text":"I look at \u001b[31mit.\u001b]0;t\u0007","tools":[
	  {"name":"Bash","input":{"command":"echo one; echo two"}},
	  {"name":"Bash","input":{"command":"printf '\\033[31m%s' x; exit 3"}},
	  {"name":"Read","input":{"file_path":"missing"}}]},
	 {"text":"All\nseen."}]}]}`)
	w.App.Environ = append(w.App.Environ, "TERM=xterm")
	args := []string{"-p", "--session-id", "s", "--name", "a name", "--model", m, "--allowed-tools", "Bash(echo:*),Bash(printf:*),Bash(exit:*)", "look"}
	o := w.Run(args...)
	if o.Code != 0 || !strings.HasPrefix(o.Stdout, "\x1b[2msession s  a name\x1b[0m\n") || o.Stderr != "" {
		t.Fatalf("%+v", o)
	}
	args[2] = "s2"
	w.App.Environ = append(w.App.Environ, "NO_COLOR=1")
	got := strings.Split(w.OK(args...), "\n")
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
	w := clitest.New(t)
	w.App.Screen, w.App.Terminal = true, true
	w.App.Environ = append(w.App.Environ, "TERM=dumb")
	m := w.Scripted(clitest.WaitsTwice)
	o := w.Fails(app.ExitWaiting, "approvals allow s", "-p", "--session-id", "s", "--model", m, "both")
	if !strings.Contains(o.Stdout, "touch made → waits for your approval\n") {
		t.Errorf("%s", o.Stdout)
	}
	w.OK("approvals", "allow", "s")
	w.OK("send", "s", "more of it")
	o = w.Fails(app.ExitWaiting, "1. red", "-p", "-r", "s")
	if !strings.Contains(o.Stdout, "touch made → ") || !strings.Contains(o.Stdout, "I ask.") || !strings.Contains(o.Stdout, "Which? → waits for your answer\n") {
		t.Errorf("%s", o.Stdout)
	}
	w.OK("answer", "s", "1")
	if out := w.OK("-p", "-r", "s"); !strings.Contains(out, "It is done.\n\n> more of it\nMore.\n") {
		t.Errorf("%s", out)
	}
}
