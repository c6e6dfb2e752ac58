package files_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Where only the user has changed files since, a restore says that they stay, how many, and how they come back all the
// same.
func TestOnlyTheUsersEditsDiffer(t *testing.T) {
	p := newProject(t)
	p.write("mine.txt", "at first\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo x > other.txt"}))
	p.run(m, "first")
	p.OK("checkpoint", "s", "--name", "good")
	p.write("mine.txt", "edited\n")
	o := p.Run("restore", "s", "good", "--files", "--yes")
	if o.Code != 0 || !strings.Contains(o.Stdout, "1 file that somebody else changed since stays as it is") || !strings.Contains(o.Stderr, "--force") {
		t.Errorf("%+v", o)
	}
	var out struct {
		Others int  `json:"others"`
		Done   bool `json:"done"`
	}
	if err := json.Unmarshal([]byte(p.OK("restore", "s", "good", "--files", "--yes", "--json")), &out); err != nil || out.Others != 1 || out.Done {
		t.Errorf("%+v, %v", out, err)
	}
	p.OK("restore", "s", "good", "--files", "--yes", "--force")
	if got := p.files()["mine.txt"]; got != "-rw------- at first\n" {
		t.Errorf("by force: %q", got)
	}
	if out := p.OK("restore", "s", "good", "--files", "--yes"); !strings.Contains(out, "all is as it was") {
		t.Error(out)
	}
}

// Now is a moment of a diff, and none of a restore nor a name of a checkpoint.
func TestNowIsAMoment(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "at first\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo session > a.txt"}))
	p.run(m, "first")
	p.OK("checkpoint", "s", "--name", "good")
	p.write("a.txt", "edited\n")
	want := p.OK("diff", "s", "good")
	if got := p.OK("diff", "s", "good", "now"); got != want || !strings.Contains(got, "+edited") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.OK("diff", "s", "now", "good"); !strings.Contains(got, "-edited") || !strings.Contains(got, "+session") {
		t.Error(got)
	}
	p.Fails(2, "name an earlier moment", "restore", "s", "now", "--files", "--yes")
	if o := p.Run("checkpoint", "s", "--name", "now"); o.Code == 0 || !strings.Contains(o.Stderr, "now is the word") {
		t.Errorf("%+v", o)
	}
}

// Who comes back with bypass is not told that it was not restored.
func TestBypassThatIsGivenAgainIsNoLoss(t *testing.T) {
	p := newProject(t)
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 > a.txt", "second": "echo 2 > a.txt"}))
	p.run(m, "first")
	o := p.Run("-p", "--dangerously-skip-permissions", "--model", m, "-r", "s", "second")
	if o.Code != 0 || strings.Contains(o.Stderr, "bypassPermissions") {
		t.Errorf("%+v", o)
	}
	o = p.Run("-p", "--model", m, "-r", "s", "something else")
	if !strings.Contains(o.Stderr, "mode bypassPermissions: not restored") {
		t.Errorf("without the flag: %+v", o)
	}
}

// While the first turn runs, undo says that there is one.
func TestUndoWhileTheFirstTurnIsOpen(t *testing.T) {
	p := newProject(t)
	ask := p.Scripted(`{"turns":[{"match":"","steps":[{"tools":[{"name":"AskUser","input":{"question":"which one?"}}]},{"text":"done"}]}]}`)
	p.Run("-p", "--model", ask, "--session-id", "s", "go")
	p.Fails(4, "turn 1, which is still open", "undo", "s", "--yes")
}

// A conversation that goes back to before a turn knows nothing of that turn, so that going on does nothing of it again.
func TestTheConversationBeforeATurn(t *testing.T) {
	p := newProject(t)
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 >> a.txt", "second": "echo 2 >> a.txt"}))
	p.run(m, "first")
	p.run(m, "second")
	for _, n := range []string{"1", "2"} {
		child := strings.TrimSpace(p.OK("restore", "s", "turn "+n, "--conversation"))
		said := p.OK("export", child, "--format", "md")
		if strings.Contains(said, "echo "+n) || strings.Contains(said, "echo 1") != (n == "2") {
			t.Errorf("before turn %s it knows:\n%s", n, said)
		}
		p.Run("-p", "--model", m, "-r", child, "--dangerously-skip-permissions")
		if out := p.OK("log", child); strings.Contains(out, "tool.started") {
			t.Errorf("it went on with turn %s:\n%s", n, out)
		}
	}
}

// What was there before an undo is found in the list of moments, not only in the hint that went by.
func TestWhatAnUndoTookIsListed(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "at first\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo session > a.txt; echo new > b.txt"}))
	p.run(m, "first")
	p.OK("undo", "s", "--yes")
	p.Fails(4, "is undone", "undo", "s", "--yes")
	var list []struct {
		Moment string
		Seq    int64
	}
	if err := json.Unmarshal([]byte(p.OK("checkpoint", "s", "--list", "--json")), &list); err != nil || len(list) != 1 || list[0].Moment != "before an undo" {
		t.Fatalf("%+v, %v", list, err)
	}
	if out := p.OK("checkpoint", "s", "--list"); !strings.Contains(out, "before an undo") {
		t.Error(out)
	}
	p.OK("restore", "s", strconv.FormatInt(list[0].Seq, 10), "--files", "--yes")
	if got := p.files(); !strings.Contains(got["a.txt"], "session") || !strings.Contains(got["b.txt"], "new") {
		t.Errorf("%q", got)
	}
}

// What the session and the user have changed in different lines of one file is no conflict: an apply brings both
// together, an undo takes only the session's lines back, and the plan says so.
func TestDifferentLinesOfOneFile(t *testing.T) {
	p := newProject(t)
	p.write("a", "1\n2\n3\n4\n5\n")
	m := p.Scripted(script(t, map[string]string{"first": "sed -i s/1/one/ a", "second": "sed -i s/5/five/ a"}))
	p.run(m, "first")
	p.write("a", "one\n2\n3\n4\n5\nmine\n")
	o := p.Run("undo", "s", "--yes")
	if o.Code != 0 || !strings.Contains(o.Stdout, "~ a: changed by both in different lines") || !strings.Contains(o.Stdout, "1 modified, 0 deleted, in ~/project, to before turn 1; perdure restore s 19 --files takes this back") {
		t.Errorf("%+v", o)
	}
	holds(t, filepath.Join(p.dir, "a"), "1\n2\n3\n4\n5\nmine\n")

	p.OK("fork", "s", "--id", "kid")
	p.prompt(m, "second", "-r", "kid")
	p.write("a", "1\n2\n3\n4\n5\nnot beside\n")
	if o := p.Run("apply", "kid", "--yes"); !strings.Contains(o.Stdout, "a stays") {
		t.Errorf("lines beside each other: %+v", o)
	}
	holds(t, filepath.Join(p.dir, "a.perdure-conflict"), "1\n2\n3\n4\nfive\nmine\n")
	p.OK("undo", "s", "--yes")
	p.write("a", "uno\n2\n3\n4\n5\n")
	p.OK("fork", "s", "--id", "other")
	p.prompt(m, "second", "-r", "other")
	p.write("a", "dos\n2\n3\n4\n5\n")
	if out := p.OK("apply", "other", "--yes", "--json"); !strings.Contains(out, `"modified": 1`) && !strings.Contains(out, `"modified":1`) {
		t.Error(out)
	}
	holds(t, filepath.Join(p.dir, "a"), "dos\n2\n3\n4\nfive\n")
	p.OK("apply", "--undo", "other", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "dos\n2\n3\n4\n5\n")
}
