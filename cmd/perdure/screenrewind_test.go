package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// changer is a model whose first two turns change files by commands: what there was is deleted, and something is made.
const changer = `{"turns":[
 {"match":"delete it","steps":[{"tools":[{"name":"Bash","input":{"command":"rm go.mod; printf two > made.txt; printf changed > kept.txt"}}]},{"text":"Deleted."}]},
 {"match":"and more","steps":[{"tools":[{"name":"Bash","input":{"command":"printf three > more.txt"}}]},{"text":"More."}]},
 {"match":"","steps":[{"text":"Said."}]}]}`

// sitsAt opens a session that has made two turns.
func sitsAt(t *testing.T, cols, rows int) *seat {
	t.Helper()
	s := newSeat(t, cols, rows, changer)
	s.d.write("go.mod", "module m\n")
	s.d.write("kept.txt", "as it was\n")
	s.runs("w", "--dangerously-skip-permissions --session-id one --model "+s.model)
	s.sees("w", "one can write", has("> "))
	for _, turn := range [][2]string{{"delete it", "Deleted."}, {"and more", "More."}} {
		s.types("w", turn[0])
		s.keys("w", "Enter")
		s.sees("w", "an answer", has(turn[1]))
	}
	return s
}

// command types a command and looks at its page for a moment.
func (s *seat) command(line, what string, ok func(string) bool) string {
	s.t.Helper()
	s.types("w", line)
	s.keys("w", "Enter")
	screen := s.sees("w", what, ok)
	s.quiet()
	return screen
}

// press waits for something on the screen, until nothing moves any more, and then presses keys.
func (s *seat) press(what string, ok func(string) bool, keys ...string) {
	s.t.Helper()
	s.sees("w", what, ok)
	s.quiet()
	s.keys("w", keys...)
}

// back closes a page.
func (s *seat) back() {
	s.t.Helper()
	s.keys("w", "Escape")
	s.sees("w", "the conversation", has("> what is"))
}

func (s *seat) holds(name, want string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.d.dir, name))
	if got := string(b); err != nil && want != "" || got != want {
		s.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

// Goal: what is taken first is the conversation alone: two enters touch no file. The turns say how many files they
// changed. One goes on in a fork, with the words of the turn written and not sent, and is told which session was left.
func TestRewindTakesTheConversationAloneFirst(t *testing.T) {
	s := sitsAt(t, 80, 24)
	s.keys("w", "Escape")
	s.sees("w", "what esc does next", has("esc again: go back to an earlier turn"))
	s.keys("w", "Escape")
	s.press("the turns", has("Go back to before", "and more", "1 file changed", "delete it", "3 files changed"), "Down", "Enter")
	s.press("the ways", has("▌ the conversation only", "the files only", "the conversation and the files"), "Enter")
	s.sees("w", "the fork", func(screen string) bool {
		return has("> delete it", "goes on here from before", "/resume one")(screen) && !has("Deleted.")(screen)
	})
	s.leaves("w")
	s.holds("made.txt", "two")
	s.holds("more.txt", "three")
	if n := len(s.sessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// Goal: files that a command deleted come back, what it made goes away; the plan names each before anything happens,
// enter does not do it, y does, and /undo takes it back.
func TestRewindOfFilesBringsBackWhatCommandsDeleted(t *testing.T) {
	s := sitsAt(t, 80, 24)
	s.command("/rewind", "the turns", has("delete it", "3 files changed"))
	s.keys("w", "Down", "Enter", "Down")
	s.press("the ways", has("▌ the files only"), "Enter")
	s.press("the plan", has("1 come back, 1 change, 2 go away, 0 stay", "+ go.mod", "~ kept.txt", "- made.txt", "- more.txt"), "Enter")
	s.sees("w", "enter does nothing", has("y does it", "+ go.mod"))
	s.holds("go.mod", "")
	s.keys("w", "y")
	s.sees("w", "it is said", has("files went back to before", "1 added, 1 modified, 2 deleted", "takes it back"))
	s.holds("go.mod", "module m\n")
	s.holds("kept.txt", "as it was\n")
	s.holds("made.txt", "")
	s.command("/undo", "the plan back", has("- go.mod", "+ made.txt", "~ kept.txt"))
	s.keys("w", "y")
	s.sees("w", "it is said", func(screen string) bool {
		return has("2 added, 1 modified", "/restore 32 takes it back")(oneSpaced(screen))
	})
	s.holds("go.mod", "")
	s.holds("made.txt", "two")
	s.leaves("w")
}

// Goal: conversation and files go back together, and a file that the person changed since stays and is named; forced by
// a key of its own and two more.
func TestRewindOfBothKeepsWhatThePersonChanged(t *testing.T) {
	s := sitsAt(t, 40, 12)
	s.d.write("kept.txt", "mine\n")
	s.command("/rewind", "the turns", has("delete it"))
	s.keys("w", "Down", "Enter", "Down", "Down")
	s.press("the ways", has("▌ the conversation and"), "Enter")
	s.press("the plan", has("1 stay", "= kept.txt", "f force"), "f")
	s.press("the forced plan", has("0 stay", "forced:"), "y")
	s.sees("w", "it asks again", has("sure?"))
	s.holds("kept.txt", "mine\n")
	s.keys("w", "Escape")
	s.sees("w", "it no longer does", has("y do it"))
	s.keys("w", "Escape")
	s.press("the ways", has("▌ the conversation and"), "Enter")
	s.press("the plan", has("= kept.txt"), "y")
	s.sees("w", "the fork", has("> delete it"))
	s.holds("kept.txt", "mine\n")
	s.holds("go.mod", "module m\n")
	s.leaves("w")
}

// Goal: conversation and files are of one moment after both went back; it is said what was done and how it is taken
// back; and in the fork the turns of its parent can be gone back to.
func TestRewindOfBothSaysHowToTakeItBack(t *testing.T) {
	s := sitsAt(t, 80, 24)
	s.command("/rewind", "the turns", has("and more"))
	s.keys("w", "Enter", "Down", "Down")
	s.press("the ways", has("▌ the conversation and"), "Enter")
	s.press("the plan", has("- more.txt"), "y")
	s.sees("w", "the fork", has("> and more", "Deleted.", "/resume one goes back", "files went back to", "perdure undo one takes the files forward"))
	s.holds("more.txt", "")
	s.holds("made.txt", "two")
	s.keys("w", "C-u")
	s.sees("w", "nothing is written", has("> what is"))
	s.command("/rewind", "the parent's turns", func(screen string) bool {
		return has("delete it", "3 files changed")(screen) && !has("and more")(screen)
	})
	s.keys("w", "Enter", "Down")
	s.press("the ways", has("▌ the files only"), "Enter")
	s.press("the plan", has("+ go.mod", "- made.txt"), "y")
	s.sees("w", "it is said", has("takes it back"))
	s.holds("go.mod", "module m\n")
	s.leaves("w")
}

// Goal: /diff and /files show what commands changed and deleted, not only edits; /checkpoint keeps the files and
// /restore brings them back.
func TestPagesShowWhatCommandsChanged(t *testing.T) {
	s := sitsAt(t, 80, 24)
	s.command("/diff turn 1", "what differs", has("Changes", "go.mod", "made.txt", "kept.txt", "more.txt", "Deleted (1)"))
	s.back()
	s.command("/files", "files", has("more.txt", "not by an edit"))
	s.keys("w", "Enter")
	s.sees("w", "the lines", has("three"))
	s.keys("w", "Escape")
	s.sees("w", "the list", has("esc close"))
	s.back()
	s.command("/checkpoint good", "it is kept", has("/restore good brings"))
	s.d.write("more.txt", "spoilt")
	s.command("/restore good", "the plan", has("checkpoint good"))
	s.back()
	s.leaves("w")
}

// Goal: a restore that is killed in its middle is finished when the session is opened again, and that is said.
func TestKilledRestoreIsFinishedWhenOpenedAgain(t *testing.T) {
	const many = 3000
	s := newSeat(t, 80, 24, `{"turns":[{"match":"delete","steps":[{"tools":[{"name":"Bash","input":{"command":"rm -r d"}}]},{"text":"Deleted."}]},{"match":"","steps":[{"text":"Said."}]}]}`)
	if err := os.Mkdir(filepath.Join(s.d.dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		s.d.write(fmt.Sprintf("d/f%d", i), fmt.Sprintf("content %d\n", i))
	}
	there := func() int {
		names, _ := os.ReadDir(filepath.Join(s.d.dir, "d"))
		return len(names)
	}
	s.runs("w", "--dangerously-skip-permissions --session-id one --model "+s.model)
	s.sees("w", "one can write", has("> "))
	s.types("w", "delete")
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Deleted."))
	s.command("/undo", "the plan", has("y", "come back"))
	s.keys("w", "y")
	s.d.until("some are there again", func() bool { return there() > 0 })
	s.kills("w")
	t.Logf("killed with %d of %d", there(), many)
	s.keys("w", "C-l")
	s.types("w", "reset -Q")
	s.keys("w", "Enter")
	s.runs("w", "-r one")
	screen := s.sees("w", "it is finished, and said", has("files went back to"))
	if there() != many || strings.Contains(screen, "were not restored") {
		t.Errorf("%d files are there: %s", there(), screen)
	}
	s.leaves("w")
}

// Goal: while a turn is open nothing goes back, neither files nor conversation, and it is said what to do.
func TestRewindRefusesWhatWouldBeHalf(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[
 {"match":"wait","steps":[{"tools":[{"name":"Bash","input":{"command":"until [ -e gate ]; do sleep 0.1; done; echo x > made.txt"}}]},{"text":"Waited."}]},
 {"match":"","steps":[{"tools":[{"name":"Bash","input":{"command":"echo first > one.txt"}}]},{"text":"Made."}]}]}`)
	s.runs("w", "--dangerously-skip-permissions --session-id one --model "+s.model)
	s.sees("w", "one can write", has("> "))
	for _, turn := range [][2]string{{"make one", "Made."}, {"wait", "Bash"}} {
		s.types("w", turn[0])
		s.keys("w", "Enter")
		s.sees("w", "what comes of it", has("> "+turn[0], turn[1]))
	}
	s.sees("w", "the command runs", has("until"))
	s.command("/undo", "why not", has("nothing was changed", "a turn is open", "press esc"))
	s.back()
	s.command("/rewind", "the turns", has("wait", "make one"))
	s.keys("w", "Enter")
	s.press("the ways", has("▌ the conversation only"), "Enter")
	s.sees("w", "why not", has("a turn is open"))
	if n := len(s.sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
	s.d.write("gate", "")
	s.sees("w", "the end", has("Waited."))
	s.leaves("w")
}

// Goal: where no file was changed there is no way back for files: it is said, and the key does nothing.
func TestRewindOffersNoFilesWhereNoneChanged(t *testing.T) {
	s := newSeat(t, 80, 24, changer)
	s.d.write("go.mod", "module m\n")
	s.runs("w", "--dangerously-skip-permissions --session-id one --model "+s.model)
	s.sees("w", "one can write", has("> "))
	s.types("w", "say")
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Said."))
	s.command("/rewind", "the turns", has("say", "changed no file"))
	s.keys("w", "Enter", "Down")
	s.press("the ways", has("▌ the files only", "not possible: no file was changed since"), "Enter")
	s.sees("w", "why not", has("the files cannot: no file was changed since"))
	s.leaves("w")
}

// Goal: a turn that was undone is not shown as one that changed nothing.
func TestRewindTellsOfATurnThatWasUndone(t *testing.T) {
	s := newSeat(t, 80, 24, `{"turns":[{"match":"","steps":[{"tools":[{"name":"Bash","input":{"command":"echo first > one.txt"}}]},{"text":"Made."}]}]}`)
	s.runs("w", "--dangerously-skip-permissions --session-id one --model "+s.model)
	s.sees("w", "one can write", has("> "))
	s.types("w", "make one")
	s.keys("w", "Enter")
	s.sees("w", "an answer", has("Made."))
	s.command("/undo", "the plan", has("one.txt"))
	s.keys("w", "y")
	s.sees("w", "it is done", has("files went back"))
	s.command("/rewind", "the turns", has("make one", "what it changed was undone"))
	s.leaves("w")
}
