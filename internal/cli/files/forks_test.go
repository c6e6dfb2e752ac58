package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: whatever makes a fork gives it a directory of its own with its own files, and says where: nothing that it does is
// seen in its session's. Branches that overwrote each other's work were what users of others suffered most.
func TestEveryForkHasItsOwnFiles(t *testing.T) {
	for name, fork := range map[string]func(p *project, model string) string{
		"fork":              func(p *project, _ string) string { return p.Run("fork", "s", "--id", "kid").Stderr },
		"--fork-session":    func(p *project, _ string) string { return "" },
		"-c --fork-session": func(p *project, _ string) string { return "" },
		"restore":           func(*project, string) string { return "" },
	} {
		p := newProject(t)
		p.write("a", "mine\n")
		model := p.Scripted(script(t, map[string]string{"first": "echo 1 >> a", "other": "echo kid >> a; echo x > new"}))
		p.run(model, "first")
		kid, said, run := "kid", "", []string{"-r", "kid"}
		switch name {
		case "--fork-session":
			run = []string{"-r", "s", "--fork-session", "--session-id", kid}
		case "-c --fork-session":
			run = []string{"-c", "--fork-session", "--session-id", kid}
		case "restore":
			p.OK("checkpoint", "s", "one")
			p.write("a", "later\n")
			o := p.Run("restore", "s", "one", "--conversation")
			p.write("a", "mine\n1\n")
			kid, said = strings.TrimSpace(o.Stdout), o.Stderr
			run = []string{"-r", kid}
		default:
			said = fork(p, model)
		}
		said += p.prompt(model, "other", run...).Stderr
		holds(t, filepath.Join(p.dir, "a"), "mine\n1\n")
		holds(t, filepath.Join(p.dir, "new"), "")
		holds(t, filepath.Join(p.ownDir(kid), "a"), "mine\n1\nkid\n") // to restore: the files of then
		if !strings.Contains(said, kid+" works in ") || !strings.Contains(said, "a copy of ") {
			t.Errorf("%s: where its files are is not said:\n%s", name, said)
		}
		p.OK("verify", kid)
	}
}

// Goal: the word for the conversation alone is the same everywhere, and then where the fork works is said, too.
func TestAConversationIsForkedAlone(t *testing.T) {
	p := newProject(t)
	p.write("a", "mine\n")
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 >> a", "other": "echo kid >> a"}))
	p.run(model, "first")
	o := p.prompt(model, "other", "-r", "s", "--fork-session", "--conversation", "--session-id", "kid")
	if want := "kid works in ~/project, the directory of the session"; !strings.Contains(o.Stderr, want) {
		t.Errorf("no %q in\n%s", want, o.Stderr)
	}
	holds(t, filepath.Join(p.dir, "a"), "mine\n1\nkid\n")
	if o := p.Run("fork", "s", "--conversation"); !strings.Contains(o.Stderr, "works in ~/project, the directory of") {
		t.Errorf("%+v", o)
	}
	p.Fails(2, "--conversation", "-p", "--conversation", "x")
	p.Fails(2, "--files ask", "-p", "-r", "s", "--fork-session", "--files", "ask", "x")
	if _, err := os.Stat(filepath.Join(p.Home, "isolated")); err == nil {
		t.Error("a fork of the conversation has made a directory")
	}
}

// Goal: files and conversation that are restored together stay together: the fork goes on where the files went back.
func TestFilesAndConversationGoBackTogether(t *testing.T) {
	p := newProject(t)
	p.write("a", "mine\n")
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 >> a", "other": "echo kid >> a"}))
	p.run(model, "first")
	p.OK("checkpoint", "s", "one")
	p.write("a", "mine\n1\nlater\n")
	o := p.Run("restore", "s", "one", "--files", "--conversation", "--yes", "--force")
	holds(t, filepath.Join(p.dir, "a"), "mine\n1\n")
	lines := strings.Fields(o.Stdout)
	kid := lines[len(lines)-1]
	if !strings.Contains(o.Stderr, kid+" works in ~/project, the directory of") {
		t.Errorf("%s", o.Stderr)
	}
	p.prompt(model, "other", "-r", kid)
	holds(t, filepath.Join(p.dir, "a"), "mine\n1\nkid\n")
}

// Goal: a fork with --files restore has what the session left, and not what became of it since.
func TestAForkMayHaveTheFilesThatTheSessionLeft(t *testing.T) {
	p := newProject(t)
	p.write("a", "mine\n")
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 >> a", "other": "echo kid >> a"}))
	p.run(model, "first")
	p.write("a", "by hand\n")
	p.prompt(model, "other", "-r", "s", "--fork-session", "--files", "restore", "--session-id", "then")
	p.prompt(model, "other", "-r", "s", "--fork-session", "--session-id", "now")
	holds(t, filepath.Join(p.ownDir("then"), "a"), "mine\n1\nkid\n")
	holds(t, filepath.Join(p.ownDir("now"), "a"), "by hand\nkid\n")
	holds(t, filepath.Join(p.dir, "a"), "by hand\n")
}

// Goal: a session that has only talked is forked with its files, too: what its branches do next must not meet. Where the
// files cannot be had it shares the directory and says why; with --isolate there is no fork then.
func TestAForkOfASessionThatOnlyTalked(t *testing.T) {
	p := newProject(t)
	p.write("a", "mine\n")
	model := p.Scripted(`{"turns":[{"match":"hello","steps":[{"text":"hello"}]}]}`)
	p.prompt(model, "hello", "--session-id", "talk")
	var made struct{ Dir, Shared string }
	fork := func(args ...string) {
		t.Helper()
		made.Dir, made.Shared = "", ""
		if err := json.Unmarshal([]byte(p.OK(append([]string{"fork", "--json"}, args...)...)), &made); err != nil {
			t.Fatal(err)
		}
	}
	fork("talk", "--id", "kid")
	if made.Dir != p.ownDir("kid") {
		t.Errorf("%+v", made)
	}
	fork("talk@2", "--id", "early")
	if made.Dir != p.ownDir("early") {
		t.Errorf("%+v", made)
	}
	holds(t, filepath.Join(p.ownDir("early"), "a"), "mine\n")

	p.App.Dir = p.Dir // the user's home directory: it is not captured
	p.prompt(model, "hello", "--session-id", "home")
	fork("home", "--id", "beside")
	if made.Dir != p.Dir || made.Shared == "" {
		t.Errorf("%+v", made)
	}
	if o := p.Run("fork", "home"); !strings.Contains(o.Stderr, "it has none of its own: ") {
		t.Errorf("%+v", o)
	}
	p.Fails(1, "home directory", "fork", "home", "--isolate")
	clitest.WriteFile(t, filepath.Join(p.Dir, "mine"), "m") // the world is as it was
}

// Goal: -c in a project finds its sessions in copies, too, the newest first, and says where it works; those of another
// project it does not find.
func TestTheNewestOfAProjectMayWorkInACopy(t *testing.T) {
	p := newProject(t)
	p.write("a", "mine\n")
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 >> a", "other": "echo kid >> a"}))
	var passed atomic.Int64
	start := p.App.Now()
	p.App.Now = func() time.Time { return start.Add(time.Duration(passed.Add(1)) * time.Second) } // each is newer than the one before
	p.run(model, "first")
	elsewhere := filepath.Join(p.Dir, "elsewhere")
	clitest.WriteFile(t, filepath.Join(elsewhere, "a"), "theirs\n")
	p.App.Dir = elsewhere
	p.prompt(model, "first", "--isolate", "--session-id", "theirs")
	p.App.Dir = p.dir
	if o := p.prompt(model, "other", "-c"); !strings.Contains(o.Stderr, "session s") || strings.Contains(o.Stderr, "works in") {
		t.Errorf("the one of this directory:\n%s", o.Stderr)
	}
	p.prompt(model, "first", "--isolate", "--session-id", "copy")
	p.OK("fork", "copy", "--id", "kid") // a copy of a copy is of the project, too
	o := p.prompt(model, "other", "-c")
	if !strings.Contains(o.Stderr, "kid works in "+p.ownDir("kid")+", a directory of its own made from ~/project") {
		t.Errorf("%s", o.Stderr)
	}
	holds(t, filepath.Join(p.ownDir("kid"), "a"), "mine\n1\nkid\n1\nkid\n")
	p.OK("close", "kid")
	if o := p.prompt(model, "other", "-c"); !strings.Contains(o.Stderr, "copy works in ") {
		t.Errorf("%s", o.Stderr)
	}
	p.App.Dir = elsewhere
	if o := p.prompt(model, "other", "-c"); !strings.Contains(o.Stderr, "theirs works in ") {
		t.Errorf("%s", o.Stderr)
	}
}
