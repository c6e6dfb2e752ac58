package files_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// starts runs the command in a process of its own.
func (p *project) starts(args ...string) (wait func() (code int, stderr string)) {
	p.T.Helper()
	var out strings.Builder
	cmd := exec.CommandContext(p.T.Context(), os.Args[0])
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, append([]string{"CLI_TEST_ARGS=" + strings.Join(args, "\n")}, p.App.Environ...), &out
	if err := cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	return func() (int, string) {
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode(), out.String()
	}
}

func (p *project) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.dir, name))
	return err == nil
}

// With two instances on one session, undo deleted whole files: the snapshots of one were taken for the other's. One
// alone holds a session. The other's prompt and its undo are refused while the first one works, and no file is touched;
// afterwards the turn is one step of undo.
func TestTwoInstancesOnOneSession(t *testing.T) {
	p := newProject(t)
	p.write("f", "0\n")
	p.write("doomed", "doomed\n")
	start := p.files()
	m := p.Scripted(script(t, map[string]string{
		"begin": "echo 1 > f; rm doomed; touch began; until [ -e ../end ]; do sleep 0.05; done; echo late > late",
		"other": "echo other > other",
	}))
	first := p.starts("-p", "--dangerously-skip-permissions", "--model", m, "--session-id", "s", "begin")
	clitest.Until(t, "the first one works", func() bool { return p.has("began") })
	amid := p.files()
	p.Fails(5, "is held by pid", "-p", "-r", "s", "--dangerously-skip-permissions", "--model", m, "other")
	if o := p.Run("-p", "--session-id", "s", "--dangerously-skip-permissions", "--model", m, "other"); o.Code == 0 {
		t.Errorf("a session of that id was begun twice: %s", o.Stderr)
	}
	p.Fails(4, "turn 1 is within Bash", "undo", "s", "--yes")
	p.OK("restore", "s", "turn 1", "--files", "--yes") // nothing is known to be the session's own doing yet
	p.Fails(1, "turn 1 is running", "restore", "s", "turn 1", "--files", "--force", "--yes")
	p.same("the first one's files", amid)
	if err := os.WriteFile(filepath.Join(p.dir, "..", "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, said := first()
	if code != 0 || !p.has("late") {
		t.Errorf("the first one ended with %d: %s", code, said)
	}
	p.OK("verify", "s")
	p.OK("undo", "s", "--yes")
	p.same("undone", start)
}

// Of two that go on with a session at the same moment each has its turn or is refused; a turn that was had is wholly
// there, and undo takes back one after the other to what was there at first.
func TestTwoThatGoOnAtTheSameMoment(t *testing.T) {
	for range 3 {
		p := newProject(t)
		p.write("f", "0\n")
		start := p.files()
		m := p.Scripted(script(t, map[string]string{"begin": "echo 1 > f", "left": "echo left > left; rm -f f", "right": "echo right > right"}))
		p.run(m, "begin")
		wait := map[string]func() (int, string){}
		for _, word := range []string{"left", "right"} {
			wait[word] = p.starts("-p", "-r", "s", "--dangerously-skip-permissions", "--model", m, word)
		}
		turns := 1
		for word, over := range wait {
			code, said := over()
			if (code == 0) != p.has(word) || code != 0 && (code != 5 || !strings.Contains(said, "is held by pid")) {
				t.Errorf("%s: exit %d: %s", word, code, said)
			}
			if code == 0 {
				turns++
			}
		}
		if turns == 1 {
			t.Error("neither had its turn")
		}
		p.OK("verify", "s")
		for range turns {
			p.OK("undo", "s", "--yes")
		}
		p.same("all undone", start)
	}
}
