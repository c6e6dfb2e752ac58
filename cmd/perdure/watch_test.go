package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// terminal is the command on a real terminal, which tmux plays. .ci/run installs it.
type terminal struct {
	t    *testing.T
	exe  string
	home string
	sock string
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	dir, err := os.MkdirTemp("", "pd-tty-") //nolint:usetesting // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &terminal{t: t, exe: filepath.Join(dir, "perdure"), home: filepath.Join(dir, "home"), sock: filepath.Join(dir, "tmux")}
	if err := os.Symlink(self, w.exe); err != nil { // by that name the test binary is the command
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, l := range w.tasks() {
			w.perdure("task", "kill", l["session_id"].(string), "--all")
		}
		_ = exec.Command("tmux", "-S", w.sock, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	return w
}

// perdure runs a command without a terminal.
func (w *terminal) perdure(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(w.exe, args...)
	cmd.Env = append(os.Environ(), "PERDURE_HOME="+w.home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Errorf("perdure %q: %v: %s", args, err, stderr.String())
	}
	return string(out)
}

// tasks are the lines of task list.
func (w *terminal) tasks() (out []map[string]any) {
	w.t.Helper()
	for line := range strings.Lines(w.perdure("task", "list", "--json")) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		out = append(out, l)
	}
	return out
}

func (w *terminal) named(name string) map[string]any {
	w.t.Helper()
	for _, l := range w.tasks() {
		if l["name"] == name {
			return l
		}
	}
	w.t.Fatalf("there is no task %s", name)
	return nil
}

func (w *terminal) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", w.sock}, args...)...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// shows waits until the screen is as it should be, however slow the machine is.
func (w *terminal) shows(what string, ok func(screen string) bool) string {
	w.t.Helper()
	const patience = time.Minute
	screen := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		if screen = w.tmux("capture-pane", "-t", "w", "-p"); ok(screen) {
			return screen
		}
	}
	w.t.Fatalf("never: %s. The screen:\n%s", what, screen)
	return ""
}

func has(words ...string) func(string) bool {
	return func(screen string) bool {
		for _, word := range words {
			if !strings.Contains(screen, word) {
				return false
			}
		}
		return true
	}
}

func (w *terminal) press(keys ...string) {
	w.tmux(append([]string{"send-keys", "-t", "w"}, keys...)...)
}

// Goal: a person watches tasks on a real terminal, in any size, ends one and runs it again; what a task prints steers
// neither the panel nor the terminal.
func TestWatch(t *testing.T) {
	w := newTerminal(t)
	const evil = `printf '\033]0;pwned\007\033]2;pwned\033\\\033]52;c;cHduZWQ=\007\033[6n\033[c\033[2J\033[H\033[?1000h\033[20t` +
		`still here 漢字\033[31m\r\n'; exec sleep 1000`
	w.perdure("task", "run", "--name", "evil", "--", "sh", "-c", evil)
	w.perdure("task", "run", "--name", "ticker", "--", "sh", "-c", "while echo tick; do sleep 0.2; done")
	w.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "100", "-y", "30",
		"PERDURE_HOME='"+w.home+"' '"+w.exe+"' task watch; echo \"left with $?\"; exec cat")
	w.shows("the newest task is selected and followed", has("2 running", "▌ bash_1", "ticker ──", "following", "  tick\n  tick\n"))
	w.press("Down")
	w.shows("the other one's output", func(s string) bool {
		return has("bash_1 evil ──", "  still here 漢字\n")(s) && !strings.Contains(s, "pwned\n")
	})
	if title := w.tmux("display-message", "-t", "w", "-p", "#{pane_title}#{mouse_any_flag}"); strings.Contains(title, "pwned") || strings.Contains(title, "1\n") {
		t.Errorf("the task steered the terminal: %q", title)
	}
	if out, err := exec.Command("tmux", "-S", w.sock, "show-buffer").Output(); err == nil {
		t.Errorf("the task wrote to the clipboard: %q", out)
	}
	for _, size := range [][2]string{{"40", "12"}, {"200", "50"}, {"30", "8"}, {"80", "24"}} {
		w.tmux("resize-window", "-t", "w", "-x", size[0], "-y", size[1])
		w.shows("it fits "+size[0]+" columns", func(s string) bool {
			lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
			return has(" Tasks", "▌ bash_1", "bash_1 evil")(s) && strings.Contains(lines[len(lines)-1], "select")
		})
	}
	before := w.named("evil")
	w.press("x")
	w.shows("it asks", has("End bash_1 (evil: pid", "y/N"))
	w.press("y")
	w.shows("it is killed", has("■ killed by user"))
	w.signalledFirst(before["session_id"].(string))
	w.press("/", "e", "v", "i", "l")
	w.shows("only this one is left", func(s string) bool { return has("/evil", "▌ bash_1")(s) && !strings.Contains(s, "● running") })
	w.press("Enter", "r")
	w.shows("it asks", has("Run bash_1 again (evil)? y/N"))
	w.press("y")
	w.shows("it runs", has("● running", "still here"))
	if again := w.named("evil"); again["attempt"] != 2.0 || again["pid"] == before["pid"] || again["status"] != "running" {
		t.Errorf("%v", again)
	}
	w.press("q")
	w.shows("the terminal is as before", func(s string) bool { return has("left with 0")(s) && !strings.Contains(s, "running") })
	if l := w.named("ticker"); l["status"] != "running" {
		t.Errorf("leaving ended it: %v", l)
	}
}

// signalledFirst wants the wish to end a task in the log before its end.
func (w *terminal) signalledFirst(session string) {
	w.t.Helper()
	var kinds []string
	for line := range strings.Lines(w.perdure("log", session, "--json")) {
		var e struct{ Kind string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		if strings.HasPrefix(e.Kind, "task.") {
			kinds = append(kinds, e.Kind)
		}
	}
	if got := strings.Join(kinds, " "); got != "task.requested task.started task.signalled task.exited" {
		w.t.Errorf("%s", got)
	}
}

// Goal: NO_COLOR is heeded, and a signal leaves the terminal as it was.
func TestWatchWithoutColour(t *testing.T) {
	w := newTerminal(t)
	w.perdure("task", "run", "--name", "idle", "--", "sleep", "1000")
	// The shell tells the exit code: tmux 3.3 may not hear of a process's end.
	code := filepath.Join(filepath.Dir(w.home), "code")
	w.tmux("-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";", "new-session", "-d", "-s", "w",
		"-x", "80", "-y", "20", "NO_COLOR=1 PERDURE_HOME='"+w.home+"' '"+w.exe+"' task watch; echo $? >'"+code+".new'; mv '"+code+".new' '"+code+"'")
	w.shows("it draws", has("▌ bash_1", "● running"))
	// 39 and 49 are the terminal's own colours.
	if s := w.tmux("capture-pane", "-t", "w", "-p", "-e"); regexp.MustCompile(`[[;][349][0-8][m;]`).MatchString(s) {
		t.Errorf("colours: %q", s)
	}
	shell := strings.TrimSpace(w.tmux("display-message", "-t", "w", "-p", "#{pane_pid}"))
	children, err := os.ReadFile(filepath.Join("/proc", shell, "task", shell, "children"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.shows("it is gone from the screen", func(s string) bool { return !strings.Contains(s, "running") })
	var told []byte
	for deadline := time.Now().Add(time.Minute); len(told) == 0 && time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		told, _ = os.ReadFile(code) // Until then it is not there.
	}
	if string(told) != "143\n" {
		t.Errorf("%q", told)
	}
}
