package files_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// rows are the lines of an output, with the blanks between their cells as one.
func rows(out string) (lines []string) {
	for line := range strings.Lines(out) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

func hasRows(t *testing.T, out string, want ...string) {
	t.Helper()
	for _, row := range want {
		if !strings.Contains("\n"+strings.Join(rows(out), "\n")+"\n", "\n"+row+"\n") {
			t.Errorf("no row %q in\n%s", row, out)
		}
	}
}

// Three forks of a session, of which the middle one was made after another turn of the session: each is shown with what it
// and its session have changed, and what that has cost, since the first of them was made, not with what was there before.
func TestAttemptsAreComparedSinceTheirCommonPoint(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{
		"first": "echo 1 > a; echo 1 > same; echo 1 > old", "second": "echo 2 > a; echo s > s",
		"alpha": "echo alpha >> a; echo both > same", "beta": "echo beta >> a; echo both > same; rm old", "again": "echo n > n",
	}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "alpha")
	p.run(model, "second")
	p.OK("fork", "s", "--id", "beta")
	p.prompt(model, "alpha", "-r", "alpha")
	p.prompt(model, "again", "-r", "alpha")
	p.prompt(model, "beta", "-r", "beta")
	out := p.OK("diff", "alpha", "beta")
	hasRows(t, out,
		"FILE alpha beta", "a +1 -0 +2 -1 they differ", "same +1 -1 +1 -1 the same", "old - deleted", "n new +1 -", "s - new +1",
		"=== alpha", "=== beta", "+alpha", "+beta", "-1", "+2")
	if strings.Contains(out, "+1\n+") {
		t.Errorf("what was there before is shown as changed:\n%s", out)
	}
	if o := p.Run("diff", "alpha", "beta", "--stat"); strings.Contains(o.Stdout, "===") || !strings.Contains(o.Stderr, "perdure apply alpha") {
		t.Errorf("%s%s", o.Stdout, o.Stderr)
	}
	hasRows(t, p.OK("diff", "s", "alpha", "beta", "--stat"), "FILE s alpha beta", "a +1 -1 +1 -0 +2 -1 they differ", "s new +1 - new +1 the same")
	hasRows(t, p.OK("diff", "s", "--forks", "--stat", "--path", "n"), "FILE alpha beta", "n new +1 -")
	var v struct {
		Since    struct{ Session string }
		Attempts []struct {
			Session       string
			Turns, Tokens int
			Files         []struct{ Path, What, Diff, Others string }
		}
	}
	if err := json.Unmarshal([]byte(p.OK("diff", "alpha", "beta", "s", "--json")), &v); err != nil || v.Since.Session != "s" || len(v.Attempts) != 3 {
		t.Fatalf("%+v, %v", v, err)
	}
	for i, turns := range []int{2, 2, 1} { // beta has the session's second turn and its own
		if a := v.Attempts[i]; a.Turns != turns || a.Tokens <= 0 {
			t.Errorf("%+v, want %d turns", a, turns)
		}
	}
	// Both have paid for the second turn since: what it cost is counted for both, and nothing from before.
	if one, two := v.Attempts[2].Tokens, v.Attempts[1].Tokens; two <= one {
		t.Errorf("%d tokens with the session's turn, %d for that turn alone", two, one)
	}
	if f := v.Attempts[1].Files[0]; f.Path != "a" || !strings.Contains(f.Diff, "+beta") || f.Others != "differ" {
		t.Errorf("%+v", f)
	}
}

// Sessions that began with copies of one directory are attempts, too; those of different directories have nothing in
// common, and are compared as they are.
func TestCopiesOfOneDirectoryAreCompared(t *testing.T) {
	p, model := attempted(t)
	p.prompt(model, "later", "--isolate", "--session-id", "other")
	out := p.OK("diff", "kid", "other", "--stat")
	hasRows(t, out, "since they began with a copy of ~/project", "FILE kid other", "a +1 -1 +1 -1 they differ", "b deleted -", "n new +1 -")
	here := p.App.Dir
	p.App.Dir = filepath.Join(p.Dir, "two")
	clitest.WriteFile(t, filepath.Join(p.App.Dir, "z"), "z\n")
	p.prompt(model, "later", "--session-id", "far")
	p.App.Dir = here
	if out := p.OK("diff", "kid", "far", "--stat"); !strings.Contains(out, "added    z") || strings.Contains(out, "FILE") {
		t.Errorf("diff:\n%s", out)
	}
	p.Fails(1, "nothing in common", "diff", "kid", "other", "far")
	p.Fails(2, "named twice", "diff", "kid", "kid")
	p.Fails(4, "no forks", "diff", "kid", "--forks")
}

// Names of files are data: what they hold reaches no terminal as it is.
func TestAttemptsWithHostileNamesAreShownSafely(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 > a", "second": `printf x > "$(printf 'e\033[2Jvil\nname')"`}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "kid")
	p.prompt(model, "second", "-r", "kid")
	if out := p.OK("diff", "s", "kid"); strings.Contains(out, "\x1b") || strings.Contains(out, "\nname") || !strings.Contains(out, "vil") {
		t.Errorf("%q", out)
	}
}
