package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// seat is a person at a desk: a shell on a real terminal, in an empty directory.
type seat struct {
	*terminal
	d     *desk
	model string // its script stands outside of the directory
}

func newSeat(t *testing.T, cols, rows int, script string) *seat {
	t.Helper()
	d := newDesk(t)
	file := filepath.Join(filepath.Dir(d.dir), "model.json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &seat{terminal: newTerminal(t), d: d, model: "scripted/" + file}
	t.Cleanup(func() { d.write("gate", "") }) // nothing waits for it when a test fails
	s.window("w", cols, rows)
	return s
}

// window opens another shell on a terminal of its own.
func (s *seat) window(name string, cols, rows int) {
	s.t.Helper()
	s.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), "-c", s.d.dir,
		"env "+strings.Join(s.d.env, " ")+" PS1='$ ' EDITOR='"+filepath.Join(s.d.dir, "editor")+"' bash --norc --noprofile -i")
	s.sees(name, "a shell", has("$"))
}

// types types letters as a person does.
func (s *seat) types(window, text string) {
	s.t.Helper()
	s.tmux("send-keys", "-t", window, "-l", text)
}

// keys presses keys that have names.
func (s *seat) keys(window string, names ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", window}, names...)...)
}

// runs types a command line of perdure into a shell.
func (s *seat) runs(window, args string) {
	s.t.Helper()
	s.types(window, "clear")
	s.keys(window, "Enter")
	s.sees(window, "an empty screen", func(screen string) bool { return strings.TrimSpace(screen) == "$" })
	s.types(window, "clear; '"+s.d.exe+"' "+args+"; echo left with $?")
	s.keys(window, "Enter")
}

// sees waits until a window is as it should be.
func (s *seat) sees(window, what string, ok func(screen string) bool) string {
	s.t.Helper()
	screen := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if screen = s.tmux("capture-pane", "-t", window, "-p"); ok(screen) {
			return screen
		}
	}
	s.t.Fatalf("never: %s. The screen of %s:\n%s", what, window, screen)
	return ""
}

// leaves presses ctrl+c twice and wants the shell back, with the terminal as it was.
func (s *seat) leaves(window string) string {
	s.t.Helper()
	s.keys(window, "C-c")
	s.sees(window, "it asks again", has("ctrl+c again leaves"))
	s.keys(window, "C-c")
	screen := s.sees(window, "it has left", has("left with 0"))
	if modes := s.tmux("display-message", "-t", window, "-p", "#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{keypad_cursor_flag}"); modes != "0100\n" {
		s.t.Errorf("modes after leaving: %q", modes)
	}
	return screen
}

// kills kills the command that a window's shell runs.
func (s *seat) kills(window string) {
	s.t.Helper()
	pid := s.child(window)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	s.d.until("it is gone with its locks", func() bool { return ended(pid) })
	s.sees(window, "the shell tells", has("left with 137"))
}

// child is the command that a window's shell runs.
func (s *seat) child(window string) int {
	s.t.Helper()
	shell := strings.TrimSpace(s.tmux("display-message", "-t", window, "-p", "#{pane_pid}"))
	children, err := os.ReadFile(filepath.Join("/proc", shell, "task", shell, "children"))
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		s.t.Fatalf("children of the shell: %q", children)
	}
	return pid
}

// count is how often words stand in the log of a session.
func (s *seat) count(id, words string) int {
	s.t.Helper()
	return strings.Count(s.d.ok("log", id), words)
}

// sessions are the ids of the sessions of the home.
func (s *seat) sessions() (ids []string) {
	s.t.Helper()
	for line := range strings.Lines(s.d.ok("list", "--json")) {
		var l listed
		if err := decode(line, &l); err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, l.ID)
	}
	return ids
}

// script writes a program into the directory.
func (d *desk) script(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o700); err != nil {
		d.t.Fatal(err)
	}
}

// quiet is how long a person looks before a key.
func (s *seat) quiet() { <-time.After(700 * time.Millisecond) }

// coloured finds a colour: 39 and 49 are the terminal's own.
var coloured = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[[;][349][0-8][m;]`) })
