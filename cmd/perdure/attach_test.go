package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Goal: a person attaches to programs that own their terminal, on a real one: full-screen programs are drawn anew in
// its size, leaving gives it back, and neither leaving nor a SIGKILL of the attach command touches the task.
func TestAttach(t *testing.T) {
	w := newTerminal(t)
	text := filepath.Join(filepath.Dir(w.home), "text")
	var b strings.Builder
	for i := range 1000 {
		b.WriteString("line " + strconv.Itoa(i+1) + "\n")
	}
	if err := os.WriteFile(text, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.perdure("task", "run", "--name", "pager", "--tty", "--size", "132x50", "--", "less", text)
	w.perdure("task", "run", "--name", "shell", "--tty", "--", "env", "PS1=task> ", "sh", "-i")
	w.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "100", "-y", "30", "PERDURE_HOME='"+w.home+"' PS1='mine> ' exec sh -i")
	attach := func(args ...string) {
		w.press(strings.Join(append([]string{"'" + w.exe + "'", "task", "attach"}, args...), " "), "Enter")
	}
	lines := func(first, last int) func(string) bool {
		return func(screen string) bool {
			at := strings.Split(screen, "\n")
			return at[0] == "line "+strconv.Itoa(first) && has("line "+strconv.Itoa(last)+"\n")(screen) && !has("line "+strconv.Itoa(last+1)+"\n")(screen)
		}
	}
	attach("pager")
	w.shows("less fills this terminal", lines(1, 29))
	w.press("Space")
	w.shows("the next screen", lines(30, 58))
	w.tmux("resize-window", "-t", "w", "-x", "60", "-y", "12")
	w.shows("less fits the smaller terminal", lines(30, 40))
	w.press(`C-\`)
	w.shows("the person's own screen is back", has("mine>", "detached: bash_1"))
	if on := w.tmux("display-message", "-t", "w", "-p", "#{alternate_on}"); on != "0\n" {
		t.Errorf("the alternate screen is on: %q", on)
	}
	w.press("clear", "Enter")
	attach("pager", "--detach-keys", "ctrl-x,d")
	w.shows("it is drawn where it was", lines(30, 40))
	w.press("C-x", "d")
	w.shows("left by other keys", has("mine>", "detached: bash_1"))

	w.press("clear", "Enter")
	attach("shell")
	w.shows("attached", has("leaves it", "task>"))
	w.press("echo $((6*7)); stty size", "Enter")
	w.shows("the shell answers", has("42\n12 60\n"))
	w.killAttach()
	w.press("stty sane; clear", "C-j") // nothing puts a terminal back after a SIGKILL
	w.shows("the person's shell", func(s string) bool { return has("mine>")(s) && !has("42\n")(s) })
	attach("shell")
	w.shows("what was said before", has("42\n", "task>"))
	w.press("exit 9", "Enter")
	w.shows("it tells the end", has("bash_1 of session", "exited 9"))
	w.press("echo left with $?", "Enter")
	w.shows("and exits with it", has("left with 9"))
	if l := w.named("pager"); l["status"] != "running" {
		t.Errorf("%v", l)
	}
}

// killAttach kills the attach command that runs on the terminal.
func (w *terminal) killAttach() {
	w.t.Helper()
	shell := strings.TrimSpace(w.tmux("display-message", "-t", "w", "-p", "#{pane_pid}"))
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", shell).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		w.t.Fatalf("children of the shell: %q: %v", out, err)
	}
}
