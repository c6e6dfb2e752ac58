package main

import (
	"strings"
	"testing"
)

// spoken is a script of slow words, a command that waits for a file, and short answers.
const spoken = `{"turns":[
 {"match":"words","steps":[{"text":"The first words come slowly, one after the other, so that there is time to look at them and at the end.","delay_ms":40}]},
 {"match":"serve","steps":[{"tools":[{"name":"Bash","input":{"command":"sleep 1000","run_in_background":true}}]},{"text":"It serves."}]},
 {"match":"command","steps":[
  {"tools":[{"name":"Bash","input":{"command":"echo begun; echo ran >> ran; until [ -e gate ]; do sleep 0.02; done; echo out of the gate"}}]},
  {"text":"The command is done."}]},
 {"match":"one of","steps":[{"text":"Reply to the first."}]},
 {"match":"two of","steps":[{"text":"Reply to the second."}]},
 {"match":"three of","steps":[{"text":"Reply to the third."}]},
 {"match":"hi","steps":[{"text":"Hello."}]}]}`

// Goal: a person types perdure in an empty directory, a prompt and Enter, and the words stream; nothing else is asked.
// Leaving names what runs on and how to come back, and gives the terminal back.
func TestBarePerdureIsAConversation(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.runs("w", "--model "+s.model+" --allowed-tools Bash")
	s.sees("w", "one can write at once", has("> ", "enter sends"))
	s.types("w", "say words 日本語")
	s.sees("w", "what is typed", has("> say words 日本語"))
	s.keys("w", "Enter")
	s.sees("w", "the words stream", func(screen string) bool {
		return has("> say words 日本語", "The first words")(screen) && !strings.Contains(screen, "at the end.")
	})
	s.sees("w", "all of them", has("at the end."))
	if ids := s.sessions(); len(ids) != 1 {
		t.Errorf("sessions: %q", ids)
	}
	s.types("w", "serve it")
	s.keys("w", "Enter")
	s.sees("w", "a task runs", has("It serves."))
	screen := s.leaves("w")
	id := s.sessions()[0]
	if !has("bash_1", "to go on: perdure -r "+id[len(id)-8:])(screen) {
		t.Errorf("leaving says:\n%s", screen)
	}
	s.d.ok("task", "kill", id, "--all")
}

// Goal: a screen that is left without a message leaves no session, and without a terminal there is the overview.
func TestBarePerdureLeavesNothingBehind(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.runs("w", "--model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "never sent")
	s.sees("w", "what is typed", has("> never sent"))
	s.leaves("w")
	if ids := s.sessions(); len(ids) > 0 {
		t.Errorf("sessions: %q", ids)
	}
	if said := s.d.run(); said.code != 0 || !has("perdure", "-p")(said.stdout) || said.stderr != "" || strings.Contains(said.stdout, "\x1b") {
		t.Errorf("%d %q %q", said.code, said.stdout, said.stderr)
	}
}

// Goal: -c shows the conversation and calls no model by itself, after leaving as after a SIGKILL in the middle of a call;
// enter goes on, and the command that ran at the kill is collected once, with what it printed.
func TestContinueCallsNoModelByItself(t *testing.T) {
	s := newSeat(t, 80, 24, spoken)
	s.runs("w", "--session-id one --allowed-tools Bash --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "run the command")
	s.keys("w", "Enter")
	s.d.until("the command runs", func() bool { return s.d.read("ran") != "" })
	s.sees("w", "it is shown", has("echo begun"))
	s.kills("w")
	asked := s.count("one", "model.requested")
	s.d.write("gate", "")
	s.runs("w", "-c")
	s.sees("w", "what was said, and that nothing goes on", has("> run the command", "enter goes on"))
	if n := s.count("one", "model.requested"); n != asked || n != 1 {
		t.Errorf("%d requests, %d before", n, asked)
	}
	s.keys("w", "Enter")
	s.sees("w", "it goes on", has("The command is done."))
	if ran, shown := s.d.read("ran"), s.d.ok("show", "one", "--messages"); ran != "ran\n" || strings.Count(shown, "out of the gate") < 1 {
		t.Errorf("ran %q, the model was told:\n%s", ran, shown)
	}
	s.leaves("w")
	asked = s.count("one", "model.requested")
	s.runs("w", "-c")
	s.sees("w", "the conversation", has("> run the command", "The command is done.", "enter sends"))
	s.leaves("w")
	if n := s.count("one", "model.requested"); n != asked {
		t.Errorf("%d requests, %d before", n, asked)
	}
}
