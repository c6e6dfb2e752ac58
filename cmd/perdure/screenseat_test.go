package main

import (
	"strings"
	"testing"
)

// Goal: -c goes back to where a person sat, also when a script ran in the same directory since; a paused session that is only
// looked at stays paused; and a message in it is enough to go on.
func TestContinueGoesBackToWhereAPersonSat(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[{"match":"","steps":[{"text":"Said one."},{"text":"Said two."},{"text":"Said three."}]}]}`)
	s.runs("w", "--session-id sat --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	s.types("w", "hello")
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Said one."))
	s.leaves("w")
	s.runs("w", "-p --session-id script --model "+s.model+" nightly")
	s.sees("w", "the script", has("Said one.", "left with 0"))
	s.runs("w", "pause sat")
	s.sees("w", "paused", has("left with 0"))
	s.runs("w", "-c")
	s.sees("w", "where one sat", has("> hello", "the session is paused: a message opens it again"))
	s.leaves("w")
	s.runs("w", "show sat --json | grep -c '\"lifecycle\": \"paused\"'")
	s.sees("w", "it is paused", has("1\n"))
	s.runs("w", "-c")
	s.sees("w", "where one sat", has("> hello", "paused"))
	s.types("w", "and on")
	s.keys("w", "Enter")
	screen := s.sees("w", "it goes on", has("Said two."))
	if strings.Contains(screen, "nightly") {
		t.Errorf("the script's session: %s", screen)
	}
	s.leaves("w")
}

// Goal: /new where no model is configured begins with the one of the session that was left.
func TestNewTakesTheModelThatIsThere(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[{"match":"","steps":[{"text":"Said one."},{"text":"Said two."}]}]}`)
	s.runs("w", "-p --session-id one --model "+s.model+" hello")
	s.sees("w", "an answer", has("Said one.", "left with 0"))
	s.runs("w", "-c")
	s.sees("w", "the conversation", has("Said one.", "> what is"))
	s.types("w", "/new")
	s.keys("w", "Enter")
	s.sees("w", "a new session", func(screen string) bool { return has("> what is", "default · ")(screen) && !has("Said one.")(screen) })
	s.types("w", "again")
	s.keys("w", "Enter")
	s.sees("w", "its answer", has("> again", "Said one."))
	s.leaves("w")
	if n := len(s.sessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
}
