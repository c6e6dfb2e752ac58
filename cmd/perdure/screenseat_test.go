package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: -c goes back to where a person sat, also when a script ran in the same directory since; a paused session that
// is only looked at stays paused; and a message in it is enough to go on.
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
	s.types("w", "/resume")
	s.keys("w", "Enter")
	s.sees("w", "the picker", has("Resume", "harbour lights", "esc back"))
	s.keys("w", "Escape")
	s.sees("w", "the session that was left", has("> mountain path", "> what is"))
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

// Goal: what was written and not sent is there again after a kill, in a session and before there is one, and is gone
// from there once it is sent.
func TestADraftOutlivesAKill(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[{"match":"","steps":[{"text":"Said one."},{"text":"Said two."}]}]}`)
	written := func(words string) {
		t.Helper()
		s.types("w", words)
		s.sees("w", "it is written", has("> "+words))
		s.d.until("it is kept", func() bool {
			found := false
			_ = filepath.WalkDir(filepath.Join(s.d.home, "drafts"), func(path string, _ os.DirEntry, _ error) error {
				b, _ := os.ReadFile(path)
				found = found || strings.Contains(string(b), words)
				return nil
			})
			return found
		})
		s.kills("w")
		s.keys("w", "C-l")
		s.types("w", "reset -Q")
		s.keys("w", "Enter")
	}
	s.runs("w", "--session-id one --model "+s.model)
	s.sees("w", "one can write", has("enter sends"))
	written("a careful 日本語 plan")
	s.runs("w", "--session-id one --model "+s.model)
	s.sees("w", "it is there again", has("> a careful 日本語 plan", "what you had written is there again"))
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Said one."))
	written("half a thought")
	s.runs("w", "-c")
	s.sees("w", "it is there again", has("Said one.", "> half a thought"))
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Said two."))
	s.leaves("w")
	s.runs("w", "-c")
	s.sees("w", "nothing is written", has("Said two.", "> what is"))
	s.leaves("w")
	if n := s.count("one", "half a thought"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}
