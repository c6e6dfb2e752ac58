package main

import (
	"strings"
	"testing"
	"time"
)

const asking = `{"turns":[
 {"match":"ask","steps":[
  {"text":"I shall touch something, and here are words that take a while to come.","delay_ms":40,"tools":[{"name":"Bash","input":{"command":"touch 日本語.txt"}}]},
  {"text":"It was touched."}]},
 {"match":"words","steps":[{"text":"The first words come slowly, one after the other, so that there is time to look at them and at the end.","delay_ms":60}]},
 {"match":"hi","steps":[{"text":"Hello."}]}]}`

// Goal: letters that are typed while an approval appears stay words of the next message, and answer nothing. The key that
// gives it the keyboard does not answer either; y, after a look, does.
func TestAnApprovalTakesNoLetters(t *testing.T) {
	s := newSeat(t, 80, 24, asking)
	s.runs("w", "--session-id one --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "ask me")
	s.keys("w", "Enter")
	s.sees("w", "the words stream", has("I shall"))
	written := ""
	for range 1000 {
		s.types("w", "yn")
		if written += "yn"; has("ctrl+o")(s.tmux("capture-pane", "-t", "w", "-p")) {
			break
		}
	}
	s.types("w", "yyn")
	s.keys("w", "C-j") // a new line; the last line of the message is looked at
	s.types("w", "ynsp 1")
	screen := s.sees("w", "what was written", has("ynsp 1", "touch 日本語.txt", "ctrl+o"))
	if n := strings.Count(screen, "yn"); n < 2 {
		t.Errorf("the letters:\n%s", screen)
	}
	if got := s.d.ok("approvals", "list", "--json"); strings.Count(got, "\n") != 1 {
		t.Errorf("letters answered it: %s", got)
	}
	s.keys("w", "C-o")
	s.types("w", "y") // before it could be looked at
	s.sees("w", "the approval has the keys", has("touch 日本語.txt", "y once"))
	<-time.After(700 * time.Millisecond) // a person looks
	if got := s.d.ok("approvals", "list", "--json"); strings.Count(got, "\n") != 1 {
		t.Errorf("a letter right behind the key answered it: %s", got)
	}
	s.types("w", "y")
	s.sees("w", "it is done", has("It was touched."))
	if log := s.d.ok("show", "one", "--messages"); strings.Contains(log, "ynsp") {
		t.Errorf("the draft was sent: %s", log)
	}
	s.sees("w", "the draft is still there", has("ynsp 1"))
}

// Goal: two terminals look at one approval; the answer of the first counts, and the other one is told.
func TestTwoTerminalsRaceForAnApproval(t *testing.T) {
	s := newSeat(t, 80, 24, asking)
	s.runs("w", "--session-id one --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "ask me")
	s.keys("w", "Enter")
	s.sees("w", "it waits", has("touch 日本語.txt", "ctrl+o"))
	s.window("v", 100, 30)
	s.runs("v", "attach one")
	s.sees("v", "it waits here too", has("touch 日本語.txt", "ctrl+o"))
	for _, name := range []string{"w", "v"} {
		s.keys(name, "C-o")
		s.sees(name, "it has the keys", has("y once"))
	}
	<-time.After(700 * time.Millisecond) // two people look
	s.tmux("send-keys", "-t", "w", "-l", "y", ";", "send-keys", "-t", "v", "-l", "n")
	s.d.until("it is answered", func() bool { return s.count("one", "approval.answered  ") == 1 })
	log := s.d.ok("log", "one")
	loser, outcome := "v", "allowed by"
	if strings.Contains(log, "a1 deny") {
		loser, outcome = "w", "denied by"
	}
	s.sees(loser, "the loser is told", func(screen string) bool { // by the answer's refusal, or before its key came
		return has("another terminal answered first: "+outcome)(screen) || has("answered meanwhile: "+outcome)(screen)
	})
	s.keys("v", "C-o")
	s.leaves("v")
	s.keys("w", "C-o")
	s.leaves("w")
}
