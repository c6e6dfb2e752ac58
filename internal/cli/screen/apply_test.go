package screen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/rewind"
)

// applied is a project with session "main", whose fork "kid" has changed a and b and made n, in a directory of its own.
func applied(t *testing.T, flags ...string) (w *clitest.World, h *homes.Home, dir string) {
	t.Helper()
	w = clitest.New(t)
	w.App.Now = time.Now
	dir = filepath.Join(w.Dir, "project")
	clitest.WriteFile(t, filepath.Join(dir, "a"), "1\n")
	clitest.WriteFile(t, filepath.Join(dir, "b"), "1\n")
	w.App.Dir = dir
	bash := func(match, command string) string {
		return `{"match":"` + match + `","steps":[{"tools":[{"name":"Bash","input":{"command":"` + command + `"}}]},{"text":"done"}]}`
	}
	model := w.Scripted(`{"turns":[` + bash("begin", "echo 1 > c") + "," + bash("change", "echo 2 > a; echo 2 > b; echo n > n") + `]}`)
	run := func(args ...string) {
		if o := w.Run(append([]string{"-p", "--dangerously-skip-permissions", "--model", model}, args...)...); o.Code != 0 {
			t.Fatal(o.Stdout, o.Stderr)
		}
	}
	if len(flags) > 0 {
		run(append(flags, "--session-id", "kid", "change")...)
	} else {
		run("--session-id", "main", "begin")
		w.OK("fork", "main", "--id", "kid", "--name", "my kid")
		run("-r", "kid", "change")
	}
	set, err := settings.Load("", dir)
	if err != nil {
		t.Fatal(err)
	}
	if h, err = w.App.Open(t.Context(), homes.Config{Files: app.Files(set)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close(h) })
	return w, h, dir
}

func reads(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func does(t *testing.T, s rewind.Source, force bool) string {
	t.Helper()
	done, ok := s.Do(t.Context(), "apply", rewind.Files, force).(chat.Done)
	if !ok || done.Err != nil {
		t.Fatalf("%+v", done)
	}
	return done.Reply.Note
}

func plans(t *testing.T, s rewind.Source, force bool) rewind.Plan {
	t.Helper()
	p, err := s.Plan(t.Context(), "apply", force)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Goal: in a fork /apply brings its changes into the files of the session that it was forked from, as perdure apply
// does: the plan has its words and names what both have changed, which stays with the fork's version beside it; /apply
// --undo, there or in that session, takes it back.
func TestApplyFromAFork(t *testing.T) {
	w, h, dir := applied(t)
	clitest.WriteFile(t, filepath.Join(dir, "b"), "mine\n")
	d := sits(t, w, h, held("kid"))
	defer d.leaves()
	s := d.Applying("")
	p := plans(t, s, false)
	if p.As.Title != "the changes of session my kid, to session main, ~/project" || !strings.Contains(p.As.Counts, "1 added, 1 modified, 0 deleted, 1 kept") {
		t.Errorf("%+v", p)
	}
	if p.Kept != 1 || p.Paths[0].Name != "b" || !strings.Contains(p.Paths[0].Why, "changed there too, in another way") {
		t.Errorf("%+v", p.Paths)
	}
	if got := reads(t, dir, "a"); got != "1\n" {
		t.Fatal("a plan has changed a file")
	}
	if said := does(t, s, false); !strings.Contains(said, "applied: 1 added, 1 modified, 0 deleted, 1 conflict, to session main, ~/project; /apply --undo takes this back") {
		t.Errorf("%q", said)
	}
	if got := reads(t, dir, "a") + reads(t, dir, "b") + reads(t, dir, "n") + reads(t, dir, "b.perdure-conflict"); got != "2\nmine\nn\n2\n" {
		t.Errorf("%q", got)
	}
	s = d.Applying("--undo")
	if p = plans(t, s, false); !p.As.Settled || p.As.Title != "session main, ~/project, to before the changes of session my kid were applied" {
		t.Errorf("%+v", p)
	}
	if said := does(t, s, false); !strings.Contains(said, "taken back: 0 added, 1 modified, ") {
		t.Errorf("%q", said)
	}
	if got := reads(t, dir, "a"); got != "1\n" {
		t.Errorf("%q", got)
	}
}

// Goal: in a session /apply names its forks, and with the name of one, blanks and all, brings its changes here; what
// the fork did after the plan was shown is not applied unseen; with force it is its version also where both have
// changed a file.
func TestApplyOfAForkToTheSessionOnTheScreen(t *testing.T) {
	w, h, dir := applied(t)
	clitest.WriteFile(t, filepath.Join(dir, "b"), "mine\n")
	d := sits(t, w, h, held("main"))
	defer d.leaves()
	if _, err := d.Applying("").Plan(t.Context(), "apply", false); err == nil || !strings.Contains(err.Error(), "is where it works already; /apply NAME brings the changes of one of its forks: my kid") {
		t.Errorf("%v", err)
	}
	s := d.Applying("my kid")
	plans(t, s, true)
	st, err := h.State(t.Context(), "kid")
	if err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(st.Cwd, "unseen"), "u\n")
	if done, _ := s.Do(t.Context(), "apply", rewind.Files, true).(chat.Done); done.Err == nil || !strings.Contains(done.Err.Error(), "changed since the plan was shown") {
		t.Errorf("%+v", done)
	}
	if got := reads(t, dir, "a") + reads(t, dir, "b"); got != "1\nmine\n" {
		t.Fatalf("%q", got)
	}
	plans(t, s, true)
	if said := does(t, s, true); !strings.HasSuffix(said, "/undo takes this back") {
		t.Errorf("%q", said)
	}
	if got := reads(t, dir, "a") + reads(t, dir, "b") + reads(t, dir, "unseen"); got != "2\n2\nu\n" {
		t.Errorf("%q", got)
	}
	w.OK("fork", "main", "--id", "two", "--name", "another")
	if _, err := d.Applying("--undo another").Plan(t.Context(), "apply", false); err == nil ||
		!strings.Contains(err.Error(), "are the changes of session my kid: /apply --undo my kid takes them back") {
		t.Errorf("another fork's changes: %v", err)
	}
	s = d.Applying("--undo")
	plans(t, s, false)
	does(t, s, false)
	if got := reads(t, dir, "a") + reads(t, dir, "b"); got != "1\nmine\n" {
		t.Errorf("%q", got)
	}
	if _, err := s.Plan(t.Context(), "apply", false); err == nil || !strings.Contains(err.Error(), "of session main last is no apply: undo goes to ") {
		t.Errorf("it was taken back twice: %v", err)
	}
}

// Goal: of a session that was begun in a copy of a directory /apply brings the changes into that directory, which has
// no session, and /apply --undo takes them back.
func TestApplyFromACopyOfADirectory(t *testing.T) {
	w, h, dir := applied(t, "--isolate")
	d := sits(t, w, h, held("kid"))
	defer d.leaves()
	s := d.Applying("")
	if p := plans(t, s, false); p.As.Title != "the changes of session kid, to ~/project" {
		t.Errorf("%+v", p.As)
	}
	if said := does(t, s, false); !strings.Contains(said, "to ~/project; /apply --undo takes this back") {
		t.Errorf("%q", said)
	}
	if got := reads(t, dir, "a"); got != "2\n" {
		t.Errorf("%q", got)
	}
	s = d.Applying("--undo")
	plans(t, s, false)
	if said := does(t, s, false); !strings.HasPrefix(said, "taken back: ") {
		t.Errorf("%q", said)
	}
	if got := reads(t, dir, "a"); got != "1\n" {
		t.Errorf("%q", got)
	}
}
