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

// Goal: a name after -r that no session has opens the picker with that search, and what is found there can be gone on with;
// /search goes to what it finds, and esc in a session of the board goes back to the board.
func TestWaysToASession(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[{"match":"","steps":[{"text":"Said one."},{"text":"Said two."}]}]}`)
	for _, words := range []string{"harbour lights", "mountain path"} {
		s.runs("w", "-p --model "+s.model+" '"+words+"'")
		s.sees("w", "an answer", has("Said one.", "left with 0"))
	}
	s.runs("w", "-r harbour")
	s.sees("w", "the picker, with the words", func(screen string) bool { return has("harbour lights")(screen) && !has("mountain")(screen) })
	s.keys("w", "Enter")
	s.sees("w", "the conversation", has("> harbour lights", "Said one.", "> what is"))
	s.types("w", "/search mountain")
	s.keys("w", "Enter")
	s.sees("w", "what was found", has("found: mountain", "mountain path"))
	s.keys("w", "Enter")
	s.sees("w", "the other one", has("> mountain path", "> what is"))
	s.types("w", "# the harbour has a port")
	s.keys("w", "Enter")
	s.sees("w", "it is remembered", has("remembered for this project: the harbour has a port"))
	s.types("w", "/model")
	s.keys("w", "Enter")
	s.sees("w", "models", has("the model is scripted/", "anthropic/claude"))
	s.keys("w", "Escape")
	s.sees("w", "back", has("> what is"))
	s.leaves("w")
	s.runs("w", "board")
	s.sees("w", "the board", has("harbour lights", "mountain path"))
	s.keys("w", "Enter")
	s.sees("w", "a session", has("> what is", "esc goes back"))
	s.keys("w", "Escape")
	s.sees("w", "the board", has("harbour lights", "mountain path"))
	s.keys("w", "q")
	s.sees("w", "the shell", has("left with 0"))
}
