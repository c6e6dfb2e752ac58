package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// project is a world whose directory is a project in the person's home, with a session "s" that has written two files.
type project struct {
	*clitest.World
	dir, model string
}

func newProject(t *testing.T) project {
	t.Helper()
	p := project{World: clitest.New(t)}
	p.dir = filepath.Join(p.Dir, "project")
	for _, dir := range []string{p.dir, filepath.Join(p.dir, "empty")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.App.Dir = p.dir
	p.write("a.txt", "at first\n")
	calls, err := json.Marshal(map[string]any{"turns": []any{
		map[string]any{"match": "work", "steps": []any{
			map[string]any{"tools": []any{map[string]any{"name": "Bash", "input": map[string]any{"command": "echo session > a.txt; echo new > b.txt; chmod 700 b.txt"}}}},
			map[string]any{"text": "worked"},
		}},
		map[string]any{"match": "go on", "steps": []any{map[string]any{"text": "went on"}}},
		map[string]any{"match": "hear", "steps": []any{map[string]any{"text": "heard"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.model = p.Scripted(string(calls))
	p.OK("-p", "--session-id", "s", "--dangerously-skip-permissions", "--model", p.model, "work")
	if p.read("a.txt") != "session\n" || p.read("b.txt") != "new\n" {
		t.Fatal("the session wrote nothing")
	}
	return p
}

func (p project) write(name, text string) { clitest.WriteFile(p.T, filepath.Join(p.dir, name), text) }

// read gives what a file holds; empty: it is not there.
func (p project) read(name string) string {
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !os.IsNotExist(err) {
		p.T.Fatal(err)
	}
	return string(b)
}

// others has somebody else change one file, remove one and make one.
func (p project) others() {
	p.write("a.txt", "somebody else's\n")
	if err := os.Remove(filepath.Join(p.dir, "b.txt")); err != nil {
		p.T.Fatal(err)
	}
	p.write("mine.txt", "mine\n")
}

// A session that goes on leaves files as they are, and says how many are not as it left them.
func TestResumeSaysHowManyFilesChanged(t *testing.T) {
	p := newProject(t)
	if o := p.Run("-p", "-r", "s", "go on"); o.Code != 0 || strings.Contains(o.Stderr, "changed") {
		t.Errorf("nothing changed: %+v", o)
	}
	p.others()
	o := p.Run("-p", "-r", "s", "go on")
	if o.Code != 0 || !strings.Contains(o.Stderr, "1 added, 1 modified, 1 deleted; they stay so") || !strings.Contains(o.Stderr, "--files restore") {
		t.Errorf("%+v", o)
	}
	if p.read("a.txt") != "somebody else's\n" || p.read("b.txt") != "" || p.read("mine.txt") != "mine\n" {
		t.Error("files were touched")
	}
}

// With --files restore they become what they were when the session was left; a file that no tree of the session has stays,
// and undo takes it back.
func TestResumeRestoresFiles(t *testing.T) {
	p := newProject(t)
	p.others()
	o := p.Run("-p", "-r", "s", "--files", "restore", "go on")
	if o.Code != 0 || !strings.Contains(o.Stderr, "restored: 1 added, 1 modified") || strings.Contains(o.Stdout, "restored") {
		t.Errorf("%+v", o)
	}
	if p.read("a.txt") != "session\n" || p.read("b.txt") != "new\n" || p.read("mine.txt") != "mine\n" {
		t.Errorf("a %q, b %q, mine %q", p.read("a.txt"), p.read("b.txt"), p.read("mine.txt"))
	}
	p.OK("undo", "s", "--yes")
	if p.read("a.txt") != "somebody else's\n" || p.read("b.txt") != "" {
		t.Errorf("after undo: a %q, b %q", p.read("a.txt"), p.read("b.txt"))
	}
	p.OK("verify", "s")
}

// With --files ask and nobody to ask, nothing goes on and nothing changes.
func TestResumeAsksAboutFiles(t *testing.T) {
	p := newProject(t)
	p.others()
	o := p.Fails(app.ExitWaiting, "--files restore", "-p", "-r", "s", "--files", "ask", "go on")
	if p.read("a.txt") != "somebody else's\n" || strings.Contains(o.Stdout, "went on") || !strings.Contains(o.Stderr, "a.txt") {
		t.Errorf("%+v", o)
	}
	for _, args := range [][]string{{"--files", "none", "-r", "s"}, {"--files", "restore"}, {"--files", "restore", "-r", "s", "--cwd", "."}} {
		p.Fails(app.ExitUsage, "--files", append([]string{"-p", "x"}, args...)...)
	}
}

// A directory that is gone is said at once, with the ways back, before a model is asked; with --files restore it is there
// again, with modes, empty directories and what was ignored, and the session goes on in it.
func TestAGoneDirectoryIsMadeAgain(t *testing.T) {
	p := newProject(t)
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	p.App.Dir = p.Dir
	for _, args := range [][]string{{"-p", "-r", "s", "go on"}, {"-p", "-r", "s", "--wait", "go on"}} {
		o := p.Fails(app.ExitFailed, "which is gone", args...)
		if !strings.Contains(o.Stderr, p.dir) || !strings.Contains(o.Stderr, "--files restore") || !strings.Contains(o.Stderr, "--cwd DIR") {
			t.Errorf("%q: %s", args, o.Stderr)
		}
	}
	if o := p.Run("send", "s", "hear"); o.Code != 0 || !strings.Contains(o.Stderr, "--files restore") {
		t.Errorf("send: %+v", o)
	}
	p.Fails(app.ExitWaiting, "--files restore", "-p", "-r", "s", "--files", "ask", "go on")
	if _, err := os.Stat(p.dir); err == nil {
		t.Fatal("it was made although nobody said so")
	}
	o := p.Run("-p", "-r", "s", "--files", "restore", "go on")
	if o.Code != 0 || !strings.Contains(o.Stderr, "2 files, 1 directory, ") || !strings.Contains(o.Stdout, "went on") {
		t.Fatalf("%+v", o)
	}
	info, err := os.Stat(filepath.Join(p.dir, "b.txt"))
	if err != nil || info.Mode().Perm() != 0o700 || p.read("a.txt") != "session\n" {
		t.Errorf("%v, %v, a %q", info, err, p.read("a.txt"))
	}
	if info, err := os.Stat(filepath.Join(p.dir, "empty")); err != nil || !info.IsDir() {
		t.Errorf("the empty directory: %v", err)
	}
}

// A directory that a flag names and that is not there is refused with the remedy, and the session stays where it was.
func TestADirectoryThatIsNotThereIsRefused(t *testing.T) {
	w := clitest.New(t)
	script := w.Scripted(`{"turns":[{"steps":[{"text":"Done."}]}]}`)
	w.OK("-p", "--session-id", "s", "--model", script, "go")
	clitest.WriteFile(t, filepath.Join(w.Dir, "file"), "")
	for _, dir := range []string{"none", "file", "file/x"} {
		for _, flag := range []string{"--cwd", "--add-dir"} {
			o := w.Fails(2, flag+" "+dir+": ", "-p", "-r", "s", flag, dir, "on")
			if !strings.Contains(o.Stderr, "make it, or name another one") {
				t.Errorf("%s %s: %s", flag, dir, o.Stderr)
			}
		}
	}
	if out := w.OK("log", "s"); strings.Contains(out, "works in") {
		t.Errorf("it has moved:\n%s", out)
	}
}
