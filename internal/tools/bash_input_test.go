package tools

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Goal: what is typed arrives as it is meant, and what cannot be typed is said without being an accident.
func TestBashInput(t *testing.T) {
	w, task := newTask(t, "", running)
	in := obj{"bash_id": "bash_1", "text": "1+1"}
	w.contains(w.call("BashInput", in), true, "has no open input")
	task.typed = make([]byte, 0, 30)
	w.golden(w.call("BashInput", in), false, "4 bytes typed into bash_1; read what it answers with BashOutput")
	w.golden(w.call("BashInput", obj{"bash_id": "bash_1", "text": "\x03", "newline": false}), false,
		"1 byte typed into bash_1; read what it answers with BashOutput")
	w.contains(w.call("BashInput", obj{"bash_id": "bash_1", "text": strings.Repeat("x", 40)}), true, "25 of 41 bytes were taken")
	if got := string(task.typed); got != "1+1\n\x03"+strings.Repeat("x", 25) || task.eof {
		t.Errorf("typed %q, end %v", got, task.eof)
	}
	w.contains(w.call("BashInput", obj{"bash_id": "bash_1", "eof": true}), false, "its input is at its end")
	if !task.eof {
		t.Error("the input is not at its end")
	}
	w.contains(w.call("BashInput", obj{"bash_id": "bash_1"}), true, `"text" is missing`)
	w.contains(w.call("BashInput", obj{"bash_id": "bash_1", "text": strings.Repeat("x", session.MaxInput)}), true, "at most 65536")
	w.contains(w.call("BashInput", obj{"bash_id": "bash_9", "text": "x"}), true, `no task "bash_9"`)
	task.st = code(3)
	w.golden(w.call("BashInput", in), false, "nothing was typed\nbash_1 has ended\nexit code 3")
	w.State.Tasks[0].Session = "parent"
	w.contains(w.call("BashInput", in), true, "belongs to the session that this one was forked from")
}

// Goal: how a background command is to be run is read, and refused for one in the foreground.
func TestBashSettings(t *testing.T) {
	read := func(in string) (*Command, *Result) { return bash{}.Command(Call{Name: "Bash", Input: []byte(in)}) }
	cmd, refused := read(`{"command":"x","run_in_background":true,"stdin":true,"tty":true,"lifetime":"turn"}`)
	if refused != nil || !cmd.Settings.Stdin || cmd.Settings.TTY == nil || cmd.Settings.Lifetime != session.LifetimeTurn {
		t.Errorf("%+v, %+v", cmd, refused)
	}
	cmd, refused = read(`{"command":"x","stdin":false,"tty":false,"lifetime":"detached"}`)
	if refused != nil || cmd.Settings != (session.TaskSettings{}) {
		t.Errorf("%+v, %+v", cmd, refused)
	}
	for in, words := range map[string]string{
		`{"command":"x","stdin":true}`:                                   `"stdin" goes with "run_in_background"`,
		`{"command":"x","tty":true}`:                                     `"tty" goes with "run_in_background"`,
		`{"command":"x","lifetime":"turn"}`:                              `"lifetime" goes with "run_in_background"`,
		`{"command":"x","run_in_background":true,"lifetime":"for ever"}`: `must be detached, session or turn`,
	} {
		if _, refused := read(in); refused == nil || !strings.Contains(model.Text(refused.Content), words) {
			t.Errorf("%s: %+v", in, refused)
		}
	}
}
