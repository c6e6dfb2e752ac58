package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attempted is a plain directory, and session "kid", which began with a copy of it and has changed a, made n and removed b.
func attempted(t *testing.T) (p *project, model string) {
	t.Helper()
	p = newProject(t)
	p.write("a", "1\n")
	p.write("b", "1\n")
	p.write("d/c", "1\n")
	model = p.Scripted(script(t, map[string]string{"first": "echo 2 > a; rm b; echo n > n", "later": "echo 3 > a"}))
	p.prompt(model, "first", "--isolate", "--session-id", "kid")
	return p, model
}

// What was applied to a directory with no session can be taken back: the answer names the command, which brings back what
// was there, leaves what was changed since, and works without the session, too.
func TestAnApplyToAPlainDirectoryIsTakenBack(t *testing.T) {
	p, _ := attempted(t)
	p.write("mine", "m\n")
	before := p.files()
	p.Fails(4, "nothing was applied", "apply", "--undo", "kid")
	o := p.Run("apply", "kid", "--yes")
	if o.Code != 0 || !strings.Contains(o.Stdout, "perdure apply --undo kid takes this back") {
		t.Fatalf("exit %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
	applied := p.files()
	holds(t, filepath.Join(p.dir, "a"), "2\n")
	holds(t, filepath.Join(p.dir, "b"), "")
	holds(t, filepath.Join(p.dir, "n"), "n\n")
	if out := p.OK("apply", "kid", "--yes"); !strings.Contains(out, "all of them are there already") {
		t.Errorf("applied again: %s", out)
	}

	p.Fails(2, "asks first", "apply", "--undo", "kid")
	if out := p.OK("apply", "--undo", "kid", "--dry-run"); !strings.Contains(out, "+ b") || !strings.Contains(out, "~ a") || !strings.Contains(out, "- n") {
		t.Errorf("the plan is\n%s", out)
	}
	p.same("nothing was agreed to", applied)
	p.OK("apply", "--undo", "kid", "--yes")
	p.same("taken back", before)
	p.Fails(4, "nothing was applied", "apply", "--undo", "kid")

	var done struct {
		Done                     bool
		Added, Modified, Deleted int
	}
	if err := json.Unmarshal([]byte(p.OK("apply", "kid", "--yes", "--json")), &done); err != nil || !done.Done || done.Added+done.Modified+done.Deleted != 3 {
		t.Errorf("%+v, %v", done, err)
	}
	p.write("a", "mine since\n")
	p.OK("delete", "kid", "--yes")
	if out := p.OK("apply", "--undo", "--yes"); !strings.Contains(out, "a stays") {
		t.Errorf("it is not said that a stays: %s", out)
	}
	holds(t, filepath.Join(p.dir, "a"), "mine since\n")
	holds(t, filepath.Join(p.dir, "a.perdure-conflict"), "1\n")
	holds(t, filepath.Join(p.dir, "b"), "1\n")
	holds(t, filepath.Join(p.dir, "n"), "")
}

// Applies to one directory are taken back one by one, the newest first, and never one below another.
func TestAppliesAreTakenBackTheNewestFirst(t *testing.T) {
	p, model := attempted(t)
	p.prompt(model, "first", "--isolate", "--session-id", "other")
	p.prompt(model, "later", "-r", "other")
	other := filepath.Join(p.Dir, "elsewhere")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	start := p.files()
	p.OK("apply", "kid", "--yes")
	one := p.files()
	p.OK("apply", "other", "--force", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "3\n")
	p.Fails(4, "are the changes of session other", "apply", "--undo", "kid", "--yes")
	p.Fails(4, "nothing was applied", "apply", "--undo", "--to", other, "--yes")
	p.OK("apply", "--undo", "--to", p.dir, "--yes")
	p.same("the newest was taken back", one)
	p.OK("apply", "--undo", "kid", "--yes")
	p.same("both were taken back", start)
}

// What both have changed stays in a plain directory, too, with the other version beside it, and nothing of the user's
// is lost.
func TestConflictsInAPlainDirectoryAreKeptBeside(t *testing.T) {
	p, _ := attempted(t)
	p.write("a", "mine\n")
	p.write("b", "mine, and the session removed it\n")
	p.write("d/c", "mine alone\n")
	before := p.files()
	out := p.OK("apply", "kid", "--yes")
	for _, want := range []string{"a stays", "b stays", "applied: 1 added, 0 modified, 0 deleted, 2 conflicts"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	holds(t, filepath.Join(p.dir, "a"), "mine\n")
	holds(t, filepath.Join(p.dir, "a.perdure-conflict"), "2\n")
	holds(t, filepath.Join(p.dir, "b"), "mine, and the session removed it\n")
	holds(t, filepath.Join(p.dir, "d/c"), "mine alone\n")
	p.OK("apply", "--undo", "--yes")
	p.same("taken back", before)
}

// What was applied to a session is taken back as its undo does, if nothing changed its files since.
func TestAnApplyToASessionIsTakenBack(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 > a", "second": "echo 2 > a", "third": "echo 3 > b"}))
	p.run(model, "first")
	p.OK("fork", "s", "--id", "kid")
	p.Fails(4, "is no apply", "apply", "--undo", "kid", "--yes")
	p.prompt(model, "second", "-r", "kid")
	p.OK("apply", "kid", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "2\n")
	p.Fails(2, "", "apply", "--undo", "kid", "--force")
	p.OK("apply", "--undo", "kid", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "1\n")
	p.OK("apply", "kid", "--yes")
	p.prompt(model, "third", "-r", "s")
	p.Fails(4, "is no apply", "apply", "--undo", "kid", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "2\n")
}

// An apply to a directory that was killed is not known only to the next apply: whoever lists the sessions, or looks at,
// undoes or goes on with the one whose changes they are, is told, with the way on, until it is settled.
func TestAnInterruptedApplyIsToldByWhatPeopleRunNext(t *testing.T) {
	p, model := attempted(t)
	p.OK("apply", "kid", "--yes")
	records, err := filepath.Glob(filepath.Join(p.Home, "workspaces", "*", "applies", "*.json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("%q, %v", records, err)
	}
	done, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(records[0], []byte(strings.Replace(string(done), `"stage":"done"`, `"stage":"started"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"list"},
		{"show", "kid"},
		{"diff", "kid"},
		{"undo", "kid", "--dry-run"},
		{"-p", "-r", "kid", "--dangerously-skip-permissions", "--model", model, "later"},
	} {
		o := p.Run(args...)
		if o.Code != 0 || !strings.Contains(o.Stderr, "applying the changes of session kid to "+p.App.Tilde(p.dir)+" was interrupted") ||
			!strings.Contains(o.Stderr, "perdure apply kid --to "+p.dir+" finishes it, perdure apply --undo --to "+p.dir+" takes it back") {
			t.Errorf("%q: exit %d: %s", args, o.Code, o.Stderr)
		}
	}
	if o := p.Run("list", "--json"); strings.Contains(o.Stdout, "interrupted:") {
		t.Errorf("it is on stdout: %s", o.Stdout)
	}
	if err := os.WriteFile(records[0], done, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := p.Run("list"); strings.Contains(o.Stderr, "was interrupted") {
		t.Errorf("it is settled: %s", o.Stderr)
	}
}

// A taking back that was killed before it touched a file is not said to be settled and left at that: whoever asks for
// it again gets it.
func TestATakingBackThatWasKilledEarlyIsDoneByTheNext(t *testing.T) {
	p, _ := attempted(t)
	before := p.files()
	p.OK("apply", "kid", "--yes")
	records, err := filepath.Glob(filepath.Join(p.Home, "workspaces", "*", "applies", "*.json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("%q, %v", records, err)
	}
	b, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	r["undo"], r["id"], r["stage"], r["base"], r["target"] = r["id"], "killed", "planned", r["after"], r["before"]
	if b, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(records[0]), "killed.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := p.Run("apply", "--undo", "kid", "--yes"); o.Code != 0 || !strings.Contains(o.Stderr, "was interrupted") || !strings.Contains(o.Stdout, "taken back: ") {
		t.Errorf("exit %d: %s%s", o.Code, o.Stdout, o.Stderr)
	}
	p.same("taken back", before)
}
