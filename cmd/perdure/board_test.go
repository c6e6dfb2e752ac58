package main

import (
	"strings"
	"syscall"
	"testing"
)

// onTerminal shows a command of a desk on a real terminal, which tmux plays.
func (d *desk) onTerminal(args string) *terminal {
	d.t.Helper()
	w := newTerminal(d.t)
	w.tmux("-f", "/dev/null", "new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "-c", d.dir,
		strings.Join(d.env, " ")+" '"+d.exe+"' "+args+"; echo \"left with $?\"; exec cat")
	return w
}

// Goal: a person sees on a real terminal, in any size, what works and what needs them; what is killed meanwhile comes back
// by itself; they pause one, start another, and get their terminal back.
func TestBoardOnATerminal(t *testing.T) {
	d := newDesk(t)
	model := d.model(gated)
	d.ok("start", "--session-id", "one", "--name", "日本語 one", "--model", model, "--allowed-tools", "Bash", "go")
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	w := d.onTerminal("board")
	w.shows("what works, and what it does", has("1 working", "▌ running", "& 日本語 one", "· Bash echo $PERDURE_SESSION_ID", "> go"))
	for _, size := range [][2]string{{"40", "12"}, {"120", "40"}, {"80", "24"}} {
		w.tmux("resize-window", "-t", "w", "-x", size[0], "-y", size[1])
		w.shows("it fits "+size[0]+" columns", func(s string) bool {
			lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
			return has(" Sessions", "▌ running", "日本語 one")(s) && strings.Contains(lines[len(lines)-1], "enter open")
		})
	}
	before := strings.Count(d.ok("log", "one"), "session.resumed")
	d.kill("one", syscall.SIGKILL)
	d.until("the board brings it back", func() bool { return strings.Count(d.ok("log", "one"), "session.resumed") == before+1 })
	d.until("one process runs it", func() bool { return len(d.supervisors()["one"]) == 1 })
	w.press("p")
	w.shows("it is paused", has("1 idle", "paused"))
	w.press("n")
	w.tmux("send-keys", "-t", "w", "-l", "q ? x 日本")
	w.shows("letters are words of the prompt", has("new: q ? x 日本"))
	w.press("Escape")
	w.shows("nothing was started", has("1 idle", "enter open"))
	w.press("q")
	w.shows("the terminal is back", has("left with 0"))
	if modes := w.tmux("display-message", "-t", "w", "-p", "#{alternate_on}#{cursor_flag}#{mouse_any_flag}"); modes != "010\n" {
		t.Errorf("modes after leaving: %q", modes)
	}
	d.write("gate", "")
}

// Goal: the board of a pipe is text, once, and nothing of it steers the terminal that it may end on.
func TestBoardInAPipe(t *testing.T) {
	d := newDesk(t)
	d.ok("-p", "--name", "plain", "--model", d.model(gated), "hi")
	s := d.run("board")
	if s.code != 0 || !strings.Contains(s.stdout, "ended with news") || !strings.Contains(s.stdout, "plain") || strings.Contains(s.stdout, "\x1b") {
		t.Errorf("%d %q %q", s.code, s.stdout, s.stderr)
	}
	if s := d.run("board", "extra"); s.code != 2 {
		t.Errorf("%d %s", s.code, s.stderr)
	}
}

// Goal: a run that is detached takes the flags of a run, says what it is in JSON if asked, and what reads stdin goes with
// the prompt; a session's own command starts nothing that outlives it, and brings nothing back.
func TestDetachTakesTheFlagsOfARun(t *testing.T) {
	d := newDesk(t)
	model := d.model(gated)
	s := d.run("-p", "--detach", "--session-id", "one", "--output-format", "json", "--model", model, "--allowed-tools", "Bash", "--max-turns", "5", "--label", "team=a", "go")
	if s.code != 0 || s.stdout != `{"type":"started","session_id":"one","queued":false}`+"\n" {
		t.Errorf("%d %q %q", s.code, s.stdout, s.stderr)
	}
	d.until("the command runs", func() bool { return d.read("ran") != "" })
	if shown := d.ok("show", "one", "--json"); !strings.Contains(shown, `"team":"a"`) || !strings.Contains(shown, `"max_steps":5`) {
		t.Errorf("%s", shown)
	}
	if s := d.run("start", "-r", "one", "more"); s.code != 5 {
		t.Errorf("a session that is held: %d %s", s.code, s.stderr)
	}
	d.kill("one", syscall.SIGKILL)
	inside := append(d.env[:len(d.env):len(d.env)], "PERDURE_SESSION_ID=one")
	for _, args := range [][]string{{"start", "hi"}, {"-p", "--detach", "hi"}, {"start", "--resume-all"}, {"supervise", "one"}, {"board"}} {
		if s := d.runIn(inside, args...); s.code != 1 || !strings.Contains(s.stderr, "is for a human") {
			t.Errorf("%v inside: %d %s", args, s.code, s.stderr)
		}
	}
	if s := d.runIn(inside, "list"); s.code != 0 || s.stderr != "" || len(d.supervisors()) > 0 {
		t.Errorf("list inside: %d %s", s.code, s.stderr)
	}
	for _, args := range [][]string{{"supervise", "one"}, {"start", "--at-most", "0", "hi"}, {"-p", "--at-most", "2", "hi"}, {"start", "--resume-all", "hi"}, {"start"}} {
		if s := d.run(args...); s.code != 2 {
			t.Errorf("%v: %d %s", args, s.code, s.stderr)
		}
	}
	d.ok("list")
	d.write("gate", "")
	d.until("it ends", d.does("one", "idle"))
}
