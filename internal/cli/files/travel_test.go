package files_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere is another home of the same person.
func (p *project) elsewhere() *project {
	p.T.Helper()
	to := p.InHome(filepath.Join(p.T.TempDir(), "home"))
	to.App.Environ = slices.DeleteFunc(to.App.Environ, func(kv string) bool { return kv == "PERDURE_HOME="+p.Home })
	return &project{World: to, dir: filepath.Join(p.T.TempDir(), "there")}
}

// carry takes a session to another home, into a directory that is missing.
func (p *project) carry(id string, to *project, dir string) {
	p.T.Helper()
	bundle := filepath.Join(p.T.TempDir(), "s.perdure")
	p.OK("export", id, "-o", bundle, "--secrets", "keep")
	to.OK("import", bundle, "--dir", dir)
}

// A fork goes to another machine, is worked on there and comes back. No bundle has what git ignores: that the fork has none
// of it afterwards is no change of the fork's, and an apply deletes it nowhere. What the fork did delete goes.
func TestWhatGitIgnoresOutlivesAForkThatTravelled(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", ".env\n*.log\ndata/\n")
	p.write("a", "1\n")
	p.write("b", "1\n")
	p.write("sub/c", "1\n")
	p.git("init", "-q")
	p.git("add", ".")
	p.git("commit", "-qm", "one")
	p.write(".env", "SECRET=1\n")
	p.write("sub/d.log", "kept\n")
	p.write("data/x", "made\n")
	model := p.Scripted(script(t, map[string]string{"first": "true", "there": "echo 2 > a; rm b; echo n > n; mkdir data; echo y > data/y"}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "kid")
	far := p.elsewhere()
	p.carry("kid", far, far.dir)
	far.prompt(model, "there", "-r", "kid")
	if out := far.OK("diff", "s", "kid", "--stat", "--json"); strings.Contains(out, "SECRET") || strings.Contains(out, ".env") || strings.Contains(out, "d.log") {
		t.Errorf("what stayed at home counts as a change: %s", out)
	}
	if out := far.OK("tree", "kid"); !strings.Contains(out, " 4 files changed") { // one of them is ignored, and was made there
		t.Errorf("what stayed at home is counted: %s", out)
	}
	p.OK("delete", "kid", "--yes")
	far.carry("kid", p, filepath.Join(p.Dir, "back"))

	plan := p.OK("apply", "kid", "--dry-run")
	for _, line := range []string{"~ a", "- b", "+ n"} {
		if !strings.Contains(plan, line+"\n") {
			t.Errorf("no %q in the plan:\n%s", line, plan)
		}
	}
	p.OK("apply", "kid", "--yes")
	for name, want := range map[string]string{".env": "SECRET=1\n", "sub/d.log": "kept\n", "data/x": "made\n", "data/y": "", "n": "n\n", "a": "2\n", "b": ""} {
		holds(t, filepath.Join(p.dir, name), want)
	}
}

// apply --undo of a fork takes back what that fork's changes made of the session's files, and never another fork's, which
// was applied after it: that one is named.
func TestAnApplyIsTakenBackUnderItsOwnNameOnly(t *testing.T) {
	p := newProject(t)
	p.write("a", "1\n")
	model := p.Scripted(script(t, map[string]string{"first": "true", "one": "echo 1 > one", "two": "echo 2 > two"}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "k1")
	p.OK("fork", "s", "--id", "k2")
	p.prompt(model, "one", "-r", "k1")
	p.prompt(model, "two", "-r", "k2")
	p.OK("apply", "k1", "--yes")
	p.OK("apply", "k2", "--yes")
	both := p.files()
	if out := p.OK("checkpoint", "s", "--list"); strings.Count(out, "before an apply ") != 2 || strings.Contains(out, "before a restore") {
		t.Errorf("the moments before both are no applies: %s", out)
	}
	for _, how := range []string{"--dry-run", "--yes"} {
		o := p.Run("apply", "--undo", "k1", how)
		if o.Code != 4 || !strings.Contains(o.Stderr, "are the changes of session k2") || !strings.Contains(o.Stderr, "perdure apply --undo k2 takes them back") {
			t.Errorf("%s: exit %d: %s%s", how, o.Code, o.Stdout, o.Stderr)
		}
	}
	p.Fails(4, "perdure undo ID takes back what was applied to a session's files", "apply", "--undo", "--yes") // of the directory, of which there is none
	p.same("another fork's changes were asked for", both)
	p.OK("apply", "--undo", "k2", "--yes")
	p.OK("apply", "--undo", "k1", "--yes")
	p.Fails(4, "session s: there is nothing to undo: no turn has changed a file", "apply", "--undo", "k1", "--yes")
	holds(t, filepath.Join(p.dir, "one"), "")
	holds(t, filepath.Join(p.dir, "two"), "")
}

// A file that a fork deleted and the session changed stays, and no version of it lies beside it: none is promised.
func TestOnlyAVersionThatLiesBesideAFileIsNamed(t *testing.T) {
	p := newProject(t)
	p.write("gone", "1\n")
	p.write("made", "1\n")
	model := p.Scripted(script(t, map[string]string{"first": "true", "fork": "rm gone; echo theirs > made"}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "kid")
	p.prompt(model, "fork", "-r", "kid")
	p.write("gone", "mine\n")
	p.write("made", "mine\n")
	out := p.OK("apply", "kid", "--yes")
	if !strings.Contains(out, "gone stays: ") || strings.Contains(out, "gone stays as it is; the other version") {
		t.Errorf("of a deletion: %s", out)
	}
	if !strings.Contains(out, "made stays as it is; the other version lies beside it") {
		t.Errorf("of another version: %s", out)
	}
	holds(t, filepath.Join(p.dir, "gone"), "mine\n")
	holds(t, filepath.Join(p.dir, "gone.perdure-conflict"), "")
	holds(t, filepath.Join(p.dir, "made.perdure-conflict"), "theirs\n")
}

// A session that was worked on elsewhere cannot replace the one here, whose forks need its log: it is said what
// deleting that would take, and that a home of its own takes it in without.
func TestASessionComesBackBesideOneWithForks(t *testing.T) {
	p := newProject(t)
	p.write("a", "1\n")
	model := p.Scripted(script(t, map[string]string{"first": "true", "there": "echo 2 > a"}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "kid")
	far := p.elsewhere()
	p.carry("s", far, far.dir)
	p.OK("close", "s") // as a move does
	far.prompt(model, "there", "-r", "s")
	bundle := filepath.Join(t.TempDir(), "s.perdure")
	far.OK("export", "s", "-o", bundle, "--secrets", "keep")
	p.Fails(1, "its forks must go with it; PERDURE_HOME=DIR perdure import", "import", bundle, "--dir", filepath.Join(p.Dir, "back"))
	p.OK("show", "kid")
	own := p.elsewhere()
	own.OK("import", bundle, "--dir", own.dir)
	holds(t, filepath.Join(own.dir, "a"), "2\n")
}
