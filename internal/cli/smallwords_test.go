package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Goal: in a directory that was deleted, every command that needs one says so.
func TestDirectoryThatIsGone(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.App.Dir = filepath.Join(t.TempDir(), "gone")
	for _, args := range [][]string{
		{"-p", "--model", w.Scripted(clitest.SaysYes), "x"},
		{"-p", "-c", "x"},
		{"list", "--cwd"},
		{"task", "run", "--", "true"},
		{"task", "run", "--session", "s", "--", "true"},
		{"backup", "copy"},
		{"list", "--cwd", "."},
	} {
		for _, dir := range []string{w.App.Dir, ""} {
			w.App.Dir = dir
			w.Fails(app.ExitFailed, "the directory that this was started in is gone", args...)
		}
		w.App.Dir = filepath.Join(t.TempDir(), "gone")
	}
	w.OK("list")
	w.OK("list", "--cwd", w.Dir)
	w.OK("backup", filepath.Join(t.TempDir(), "copy"))
}

// Goal: what a closed session is refused names both ways on.
func TestClosedNamesReopen(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.OK("close", "s")
	for _, args := range [][]string{{"send", "s", "x"}, {"-p", "-r", "s", "--model", w.Scripted(clitest.SaysYes), "x"}} {
		o := w.Fails(app.ExitFailed, "perdure reopen s", args...)
		if !strings.Contains(o.Stderr, "--fork-session") {
			t.Error(o.Stderr)
		}
	}
}

// Goal: a message that waits in a session without an open turn is not said to wait for that turn's end.
func TestMessagesThatWait(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.OK("pause", "s")
	w.OK("send", "s", "later")
	if o := w.Run("reopen", "s"); o.Code != 0 || strings.Contains(o.Stderr, "open turn") || !strings.Contains(o.Stderr, "1 message waits: perdure -p --resume s runs it") {
		t.Errorf("%+v", o)
	}
}

// Goal: an actor without a name leaves no gap where the name would stand.
func TestActorWithoutName(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	w.Append("s", store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: "Bash(make)", Scope: "session"})
	if out := w.OK("permissions", "list", "s"); !strings.Contains(out, "by user,") {
		t.Error(out)
	}
	w.App.Environ = []string{"PERDURE_HOME=" + w.Home, "HOME=" + w.Dir, "PATH=" + os.Getenv("PATH")}
	w.Create("q")
	w.Prompt("q", clitest.Asking("Bash", map[string]string{"command": "touch made"}), "go", "")
	w.OK("approvals", "allow", "q")
	if o := w.Fails(app.ExitFailed, "allowed already, by user", "approvals", "deny", "q:t1.s1.b2.a1"); strings.Contains(o.Stderr, "by \n") {
		t.Error(o.Stderr)
	}
}

// Goal: a table of usage fits the terminal; figures that do not are left to --json.
func TestUsageFits(t *testing.T) {
	w := clitest.New(t)
	w.OK("-p", "--model", w.Scripted(clitest.SaysYes), "go")
	for _, columns := range []int{80, 60, 40} {
		w.App.Screen, w.App.Size = true, func() (int, int) { return columns, 24 }
		for _, args := range [][]string{{"usage"}, {"usage", "--by", "session"}, {"list"}, {"list", "--limit", "1"}} {
			for line := range strings.Lines(w.OK(args...)) {
				if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > columns {
					t.Errorf("%v: %d cells of %d: %s", args, n, columns, line)
				}
			}
		}
	}
}

// Goal: errors speak of what was given, not of system calls, once.
func TestWordsOfErrors(t *testing.T) {
	w := clitest.New(t)
	if o := w.Fails(app.ExitUsage, "--add-dir /nowhere: no such file", "-p", "--model", w.Scripted(clitest.SaysYes), "--add-dir", "/nowhere", "go"); strings.Contains(o.Stderr, "lstat") {
		t.Error(o.Stderr)
	}
	if o := w.Run("-p", "--model", w.Scripted(clitest.SaysYes), "--session-id", "s", "a\x80b"); o.Code != 0 || !strings.Contains(o.Stderr, "not all UTF-8") {
		t.Errorf("%+v", o)
	}
}
