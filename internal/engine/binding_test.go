package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// onDisk is a stage whose files are the machine's, in a directory of the test's own.
func onDisk(t *testing.T, mode permission.Mode, calls ...model.Block) (s *stage, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s = newStage(t, reply(modelapi.StopToolUse, calls...), reply(modelapi.StopEndTurn, text("done")))
	s.config = func(c *engine.Config) { c.Files = tools.OSFiles{} }
	s.spec = func(c *engine.Spec) { c.Cwd, c.Mode = dir, mode }
	return s, dir
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// approve allows what a call asks, as it was shown.
func (p process) approve(st *session.State, key, act string) {
	p.t.Helper()
	a := st.Call(act).Approval
	p.send(key, &session.ApprovalAnswered{Act: st.Call(act).ID, Allow: true, Bound: a.Bound, Pre: a.Pre})
}

// TestApprovalIsBoundToWhereThePathLeads: a human allowed a write to d/pre-commit. Before it begins, d becomes a link to
// .git/hooks: that was not what they allowed, and is asked anew, with the place shown.
func TestApprovalIsBoundToWhereThePathLeads(t *testing.T) {
	s, dir := onDisk(t, permission.ModeDefault, use("a", "Write", `{"file_path":"d/pre-commit","content":"x"}`))
	hooks := filepath.Join(dir, ".git", "hooks")
	must(t, os.MkdirAll(hooks, 0o755), os.Mkdir(filepath.Join(dir, "d"), 0o755))
	p, se := s.start("go")
	st := run(t, se)
	asked := st.Call("t1.s1.b1").Approval
	if asked == nil || asked.Target != filepath.Join(dir, "d/pre-commit") || asked.Always {
		t.Fatalf("asked: %+v", asked)
	}
	must(t, os.Remove(filepath.Join(dir, "d")), os.Symlink(hooks, filepath.Join(dir, "d")))
	p.approve(st, "yes", "t1.s1.b1.a1")
	st = run(t, se)
	if _, err := os.Stat(filepath.Join(hooks, "pre-commit")); err == nil {
		t.Fatal("the hook was written with the approval of another file")
	}
	again := st.Call("t1.s1.b1").Approval
	if again == nil || again.Answered || again.Target != filepath.Join(hooks, "pre-commit") || !again.Always {
		t.Fatalf("asked again: %+v", again)
	}
	p.approve(st, "yes again", "t1.s1.b1.a1")
	run(t, se)
	if b, err := os.ReadFile(filepath.Join(hooks, "pre-commit")); err != nil || string(b) != "x" {
		t.Errorf("after it was allowed as it is: %q, %v", b, err)
	}
}

// TestReadingIsBoundToWhereThePathLeads: the same for what only reads: an approval of one file, directory or search is
// none of another that the name leads to by now.
func TestReadingIsBoundToWhereThePathLeads(t *testing.T) {
	for name, call := range map[string]model.Block{
		"Read": use("a", "Read", `{"file_path":"l/f"}`),
		"Grep": use("a", "Grep", `{"path":"l","pattern":"hidden","output_mode":"content"}`),
		"Glob": use("a", "Glob", `{"pattern":"l/f*"}`),
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := onDisk(t, permission.ModeDefault, call)
			one, two, l := filepath.Join(dir, "../one"), filepath.Join(dir, "../two"), filepath.Join(dir, "l")
			one, two = filepath.Clean(one), filepath.Clean(two)
			must(t, os.Mkdir(one, 0o755), os.Mkdir(two, 0o755), os.WriteFile(one+"/f", []byte("open"), 0o600),
				os.WriteFile(two+"/f", []byte("hidden"), 0o600), os.WriteFile(two+"/f2-hidden", nil, 0o600), os.Symlink(one, l))
			p, se := s.start("go")
			st := run(t, se)
			if a := st.Call("t1.s1.b1").Approval; a == nil || !strings.HasPrefix(a.Target, one) {
				t.Fatalf("asked: %+v", a)
			}
			must(t, os.Remove(l), os.Symlink(two, l))
			p.approve(st, "yes", "t1.s1.b1.a1")
			st = run(t, se)
			if a := st.Call("t1.s1.b1").Approval; a == nil || a.Answered || !strings.HasPrefix(a.Target, two) {
				t.Errorf("asked again: %+v", a)
			}
			if got := render(s.last().Messages); strings.Contains(got, "hidden\n") {
				t.Errorf("the model was shown the other place:\n%s", got)
			}
		})
	}
}

// TestGrantHoldsWhereItWasGiven: what a human allowed for the session in one directory is asked again in another, where
// the same words may be another program.
func TestGrantHoldsWhereItWasGiven(t *testing.T) {
	s, _ := shell(t, use("a", "Bash", `{"command":"print 16"}`), use("b", "Bash", `{"command":"print 16"}`),
		use("c", "Bash", `{"command":"cd /w/sub"}`), use("d", "Bash", `{"command":"print 16"}`))
	s.spec = func(c *engine.Spec) { c.Mode = permission.ModeDefault }
	p, se := s.start("go")
	st := run(t, se)
	asked := st.Call("t1.s1.b1").Approval
	p.send("grant", &session.ApprovalAnswered{Act: "t1.s1.b1.a1", Allow: true, Bound: asked.Bound, Grant: asked.Offer})
	p.approve(st, "cd", "t1.s1.b3.a1")
	st = run(t, se)
	if g := st.Permissions.Grants; len(g) != 1 || g[0].Cwd != "/w" || st.Cwd != "/w/sub" {
		t.Fatalf("grants %+v, directory %s", g, st.Cwd)
	}
	if c := st.Call("t1.s1.b2"); !c.Settled() || c.Approval != nil && c.Approval.Answered {
		t.Errorf("the same words in the directory of the grant: %+v", c)
	}
	if c := st.Call("t1.s1.b4"); c.Settled() || !c.Asks() {
		t.Errorf("the same words in another directory: %+v", c)
	}
	// One that does not say where it was given holds where the session was opened.
	st = st.View()
	if st.Permissions.Grants[0].Cwd = ""; len(st.GrantsHere()) != 0 {
		t.Error("a grant without a directory holds everywhere")
	}
	if st.Cwd = st.Config.Root; len(st.GrantsHere()) != 1 {
		t.Error("a grant without a directory does not hold where the session was opened")
	}
}
