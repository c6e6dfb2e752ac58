package files_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/test/needs"
)

// What undo and checkpoints of other agents have done wrong, as people tell of it. Others of these failures have their
// tests where they belong: what commands change is in the plan (TestCommandsAreUndone), a restore can be undone (there
// too), sessions of one directory (TestUndoLeavesAnotherSessionsWork), a kill in the middle
// (TestRestoreKilledAtAnyTime), a disk that fills up (TestADiskThatFillsUpStopsItAndTheNextRunFinishes), the
// conversation alone first (TestRewindTakesTheConversationAloneFirst).

// A file that git tracks and a command deleted was offered and not brought back.
func TestADeletedTrackedFileComesBack(t *testing.T) {
	needs.Program(t, "git")
	p := newProject(t)
	p.write("go.mod", "module m\n")
	p.write("untracked.txt", "nobody added this\n")
	p.git("init", "-q")
	p.git("add", "go.mod")
	p.git("commit", "-qm", "one")
	start := p.files()
	p.run(p.Scripted(script(t, map[string]string{"go": "rm go.mod untracked.txt"})), "go")
	p.OK("undo", "s", "--yes")
	p.same("both are back", start)
}

// A file that was moved by a person was made again by the history, within a minute: nothing is restored without a person
// asking for it, by whatever goes on with the session.
func TestAMovedFileIsNotMadeAgain(t *testing.T) {
	p := newProject(t)
	p.write("old.txt", "text\n")
	m := p.Scripted(script(t, map[string]string{"go": "echo 1 >one.txt", "on": "echo 2 >two.txt"}))
	p.run(m, "go")
	if err := os.Rename(filepath.Join(p.dir, "old.txt"), filepath.Join(p.dir, "new.txt")); err != nil {
		t.Fatal(err)
	}
	p.OK("show", "s")
	p.OK("diff", "s", "turn 1")
	p.OK("checkpoint", "s", "moved")
	p.run(m, "on")
	p.OK("du", "--sweep")
	p.OK("undo", "s", "--yes")
	p.OK("undo", "s", "--yes")
	if got := p.files(); got["old.txt"] != "" || got["new.txt"] == "" || got["one.txt"] != "" || got["two.txt"] != "" {
		t.Errorf("%v", got)
	}
}

// Undo of a turn that had changed nothing damaged the files: such a turn is no step of undo.
func TestATurnWithoutChangesIsNoStep(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "a\n")
	m := p.Scripted(script(t, map[string]string{"look": "cat a.txt", "go": "echo b >b.txt", "again": "cat b.txt"}))
	start := p.files()
	p.run(m, "look")
	p.Fails(4, "no turn has changed a file", "undo", "s", "--yes")
	p.same("nothing to undo", start)
	p.run(m, "go")
	p.run(m, "again")
	p.OK("undo", "s", "--yes")
	p.same("the turn before it is undone", start)
	p.Fails(4, "no turn has changed a file", "undo", "s", "--yes")
	p.same("no more than that", start)
}

// Undo brought back what files were weeks ago, from what another session of the directory had known of them.
func TestUndoGoesBackToTheMomentBeforeTheTurn(t *testing.T) {
	p := newProject(t)
	p.App.Now = time.Now // what came first is told by the clock
	p.write("a.txt", "of long ago\n")
	m := p.Scripted(script(t, map[string]string{"go": "echo of the first session >b.txt", "now": "echo of today >>a.txt; rm b.txt"}))
	p.run(m, "go")
	p.write("a.txt", "written by a person since\n")
	p.write("c.txt", "new since\n")
	before := p.files()
	p.OK("-p", "--dangerously-skip-permissions", "--session-id", "today", "--model", m, "now")
	p.OK("undo", "today", "--yes")
	p.same("as it was today", before)
}

// The first use in a directory kept nothing until a restart, and said nothing: an empty directory without git is enough.
func TestTheFirstTurnOfAFreshDirectoryIsUndone(t *testing.T) {
	p := newProject(t)
	p.run(p.Scripted(script(t, map[string]string{"go": "mkdir -p d; echo x >d/f"})), "go")
	p.OK("undo", "s", "--yes")
	p.same("it is empty again", map[string]string{})
}

// A restore was gone when its person had left the session and come back: it is in the log, and what goes on goes on
// from it.
func TestARestoreOutlivesComingBack(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "0\n")
	m := p.Scripted(script(t, map[string]string{"one": "echo 1 >a.txt", "two": "echo 2 >a.txt", "look": "cat a.txt >seen.txt"}))
	p.run(m, "one")
	p.run(m, "two")
	p.OK("undo", "s", "--yes")
	after := p.files()
	p.OK("-p", "--dangerously-skip-permissions", "--session-id", "other", "--model", m, "look")
	p.OK("show", "s")
	if err := os.Remove(filepath.Join(p.dir, "seen.txt")); err != nil {
		t.Fatal(err)
	}
	p.same("it stays", after)
	p.run(m, "look")
	if got := p.files(); got["a.txt"] != after["a.txt"] || !strings.Contains(got["seen.txt"], "1\n") {
		t.Errorf("the next turn sees %v", got)
	}
	if out := p.OK("show", "s", "--messages"); !strings.Contains(out, "before turn 2") {
		t.Errorf("the model is not told: %s", out)
	}
}

// After another model was chosen no checkpoints were made any more; after a compaction they had wrong numbers; files
// that git does not know were lost.
func TestAnotherModelAndACompactionChangeNoPoint(t *testing.T) {
	p := newProject(t)
	p.write("untracked.txt", "0\n")
	states := []map[string]string{p.files()}
	commands := map[string]string{"one": "echo 1 >untracked.txt; echo 1 >one.txt", "two": "rm untracked.txt", "three": "mkdir d; mv one.txt d"}
	m, other := p.Scripted(script(t, commands)), p.Scripted(script(t, commands))
	p.run(m, "one")
	states = append(states, p.files())
	p.OK("compact", "s")
	p.OK("-p", "--dangerously-skip-permissions", "-r", "s", "--model", other, "two")
	states = append(states, p.files())
	p.run(other, "three")
	var points []map[string]any
	if err := json.Unmarshal([]byte(p.OK("checkpoint", "s", "--list", "--json")), &points); err != nil {
		points = clitest.Lines(t, p.OK("checkpoint", "s", "--list", "--json"))
	}
	if len(points) < 3 {
		t.Errorf("%d moments are known: %v", len(points), points)
	}
	p.OK("restore", "s", "turn 2", "--files", "--yes")
	p.same("before turn 2", states[1])
	p.OK("undo", "s", "--yes")
	for i := 2; i >= 0; i-- {
		p.OK("undo", "s", "--yes")
		p.same("one step", states[i])
	}
}

// Undo deleted whole files when the program had been closed right after the turn: whenever it is killed, undo brings back
// what was before the turn, at once, or as soon as a command has ended that the kill has left running.
func TestUndoAfterTheProgramWasClosedAtOnce(t *testing.T) {
	for _, wait := range []time.Duration{0, 5, 20, 50, 100, 200} {
		p := newProject(t)
		p.write("a.txt", "0\n")
		p.write("doomed.txt", "doomed\n")
		start := p.files()
		m := p.Scripted(script(t, map[string]string{"go": "echo 1 >a.txt; rm doomed.txt; echo new >new.txt", "on": "true"}))
		args := []string{"-p", "--dangerously-skip-permissions", "--model", m, "--session-id", "s", "go"}
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Dir, cmd.Env = p.dir, append([]string{"CLI_TEST_ARGS=" + strings.Join(args, "\n")}, p.App.Environ...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		clitest.Until(t, "the command has written", func() bool {
			_, err := os.Stat(filepath.Join(p.dir, "new.txt"))
			return err == nil
		})
		<-time.After(wait * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		changed := p.files()
		var o clitest.Outcome
		clitest.Until(t, "what still ran has ended", func() bool {
			o = p.Run("undo", "s", "--yes")
			return o.Code == 0 || !strings.Contains(o.Stderr, "once it has ended, it can be undone")
		})
		if o.Code != 0 {
			p.same("nothing is touched", changed)
			t.Errorf("it says %s", o.Stderr)
		}
		p.same("undone", start)
		p.OK("verify", "s")
	}
}
