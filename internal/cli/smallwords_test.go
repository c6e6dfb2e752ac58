package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Goal: in a directory that was deleted, every command that needs one says so.
func TestDirectoryThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	w.app.Dir = filepath.Join(t.TempDir(), "gone")
	for _, args := range [][]string{
		{"-p", "--model", w.scripted(saysYes), "x"},
		{"-p", "-c", "x"},
		{"list", "--cwd"},
		{"task", "run", "--", "true"},
		{"task", "run", "--session", "s", "--", "true"},
		{"backup", "copy"},
		{"list", "--cwd", "."},
	} {
		for _, dir := range []string{w.app.Dir, ""} {
			w.app.Dir = dir
			w.fails(exitFailed, "the directory that this was started in is gone", args...)
		}
		w.app.Dir = filepath.Join(t.TempDir(), "gone")
	}
	w.ok("list")
	w.ok("list", "--cwd", w.dir)
	w.ok("backup", filepath.Join(t.TempDir(), "copy"))
}

// Goal: what a closed session is refused names both ways on.
func TestClosedNamesReopen(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	w.ok("close", "s")
	for _, args := range [][]string{{"send", "s", "x"}, {"-p", "-r", "s", "--model", w.scripted(saysYes), "x"}} {
		o := w.fails(exitFailed, "perdure reopen s", args...)
		if !strings.Contains(o.stderr, "--fork-session") {
			t.Error(o.stderr)
		}
	}
}

// Goal: a message that waits in a session without an open turn is not said to wait for that turn's end.
func TestMessagesThatWait(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	w.ok("pause", "s")
	w.ok("send", "s", "later")
	if o := w.run("reopen", "s"); o.code != 0 || strings.Contains(o.stderr, "open turn") || !strings.Contains(o.stderr, "1 message waits: perdure -p --resume s runs it") {
		t.Errorf("%+v", o)
	}
}

// Goal: an actor without a name leaves no gap where the name would stand.
func TestActorWithoutName(t *testing.T) {
	w := newWorld(t)
	w.create("s")
	w.append("s", store.Actor{Type: store.ActorUser}, &session.PermissionGranted{Rule: "Bash(make)", Scope: "session"})
	if out := w.ok("permissions", "list", "s"); !strings.Contains(out, "by user,") {
		t.Error(out)
	}
	w.app.Environ = []string{"PERDURE_HOME=" + w.home, "HOME=" + w.dir, "PATH=" + os.Getenv("PATH")}
	w.create("q")
	w.prompt("q", asking("Bash", map[string]string{"command": "touch made"}), "go", "")
	w.ok("approvals", "allow", "q")
	if o := w.fails(exitFailed, "allowed already, by user", "approvals", "deny", "q:t1.s1.b2.a1"); strings.Contains(o.stderr, "by \n") {
		t.Error(o.stderr)
	}
}

// Goal: a table of usage fits the terminal; figures that do not are left to --json.
func TestUsageFits(t *testing.T) {
	w := newWorld(t)
	w.ok("-p", "--model", w.scripted(saysYes), "go")
	for _, columns := range []int{80, 60, 40} {
		w.app.Screen, w.app.Size = true, func() (int, int) { return columns, 24 }
		for _, args := range [][]string{{"usage"}, {"usage", "--by", "session"}, {"list"}, {"list", "--limit", "1"}} {
			for line := range strings.Lines(w.ok(args...)) {
				if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > columns {
					t.Errorf("%v: %d cells of %d: %s", args, n, columns, line)
				}
			}
		}
	}
}

// Goal: errors speak of what was given, not of system calls, once.
func TestWordsOfErrors(t *testing.T) {
	w := newWorld(t)
	if o := w.fails(exitUsage, "--add-dir /nowhere: no such file", "-p", "--model", w.scripted(saysYes), "--add-dir", "/nowhere", "go"); strings.Contains(o.stderr, "lstat") {
		t.Error(o.stderr)
	}
	if o := w.run("-p", "--model", w.scripted(saysYes), "--session-id", "s", "a\x80b"); o.code != 0 || !strings.Contains(o.stderr, "not all UTF-8") {
		t.Errorf("%+v", o)
	}
}
