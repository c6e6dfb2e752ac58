package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/test/needs"
)

// Three attempts as a person makes them: they are listed in the order in which they were made, whichever worked last;
// what one has committed is not brought along by apply, and that is said with the way to keep it, by apply and before
// it is deleted; what stays is not said to be somebody else's, since it is what another attempt brought.
func TestThreeAttemptsAreToldApart(t *testing.T) {
	needs.Program(t, "git")
	p := newProject(t)
	p.repository(".")
	p.repository("inside")
	commit := "git -c user.name=n -c user.email=e@x commit -qam "
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 > f; true", "one": "echo one >> a.txt; " + commit + "one", "two": "echo two >> a.txt; cd inside; echo two >> a.txt; " + commit + "two", "three": "rm a.txt", "again": "true"}))
	p.run(model, "first")
	for _, id := range []string{"kid1", "kid2", "kid3"} {
		p.OK("fork", "s", "--id", id)
	}
	for id, word := range map[string]string{"kid3": "three", "kid1": "one", "kid2": "two"} {
		p.prompt(model, word, "-r", id)
	}
	p.prompt(model, "again", "-r", "kid1")
	for _, out := range []string{p.OK("tree", "s"), p.OK("diff", "s", "--forks", "--stat")} {
		at := []int{strings.Index(out, "kid1"), strings.Index(out, "kid2"), strings.Index(out, "kid3")}
		if at[0] < 0 || at[0] > at[1] || at[1] > at[2] {
			t.Errorf("not in the order in which they were made:\n%s", out)
		}
	}
	head := strings.TrimSpace(gitIn(t, p.ownDir("kid1"), "rev-parse", "HEAD"))
	said := "git branch NAME " + head[:12]
	if o := p.Run("apply", "kid1", "--yes"); !strings.Contains(o.Stderr, "of its 1 commit the files are there") || !strings.Contains(o.Stderr, said) {
		t.Errorf("the commit is not named: %s", o.Stderr)
	}
	if o := p.Run("apply", "kid2", "--yes"); strings.Contains(o.Stdout, "somebody else") || !strings.Contains(o.Stdout, "a.txt stays: it was changed there too") || strings.Contains(o.Stderr, head[:12]) || !strings.Contains(o.Stderr, "in ~/project/inside, keeps") {
		t.Errorf("%s%s", o.Stdout, o.Stderr)
	}
	if plan := p.OK("delete", "kid1", "kid2", "--dry-run"); strings.Count(plan, "1 commit that no branch has") != 2 || !strings.Contains(plan, said+", in ~/project, keeps") || !strings.Contains(plan, "in ~/project/inside, keeps") {
		t.Errorf("the plan is\n%s", plan)
	}
	p.gitIn(".", "branch", "kept", head[:12])
	if plan := p.OK("delete", "kid1", "--dry-run"); strings.Contains(plan, "commit") {
		t.Errorf("the plan is\n%s", plan)
	}
}

// A directory whose name is no text cannot be in a log: whoever begins there is told so at once, with what can be done,
// and not that the directory is gone.
func TestADirectoryWhoseNameIsNoText(t *testing.T) {
	p := newProject(t)
	odd := filepath.Join(p.Dir, "odd\xffname")
	if err := os.Mkdir(odd, 0o700); err != nil {
		needs.Not(t, "this file system has no names that are no UTF-8: %v", err)
	}
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 > f"}))
	p.App.Dir = odd
	for _, more := range [][]string{nil, {"--isolate"}} {
		p.Fails(app.ExitFailed, "is no UTF-8", append([]string{"-p", "--model", model, "--session-id", "s", "first"}, more...)...)
		if left, _ := os.ReadDir(filepath.Join(p.Home, "isolated")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
