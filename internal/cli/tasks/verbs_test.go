package tasks_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: restart takes a name like every verb, and the same command runs again under the same id.
func TestRestartTakesNames(t *testing.T) {
	w := clitest.New(t)
	w.RunTask("--name", "srv", "--", "sh", "-c", "echo up; exec sleep 300")
	for n, args := range [][]string{{"srv", "srv"}, {"srv"}, {"bash_1"}} {
		o := w.Run(append([]string{"task", "restart"}, args...)...)
		if l := w.TaskLine("srv", "bash_1"); o.Code != 0 || l["status"] != "running" || l["attempt"] != float64(n+2) {
			t.Errorf("%v: %+v\n%v", args, o, l)
		}
	}
}

// Goal: a restart that today's rules refuse, or that could not start, ends nothing.
func TestRestartDecidesFirst(t *testing.T) {
	w := clitest.New(t)
	work := filepath.Join(w.Dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	there := w.App.Dir
	w.App.Dir = work
	w.RunTask("--name", "srv", "--", "sh", "-c", "echo up; exec sleep 300")
	w.App.Dir = there
	pid := w.TaskLine("srv", "bash_1")["pid"]
	runs := func(what string) {
		t.Helper()
		if l := w.TaskLine("srv", "bash_1"); l["status"] != "running" || l["pid"] != pid || l["attempt"] != 1.0 {
			t.Errorf("%s: %v", what, l)
		}
	}
	conf := filepath.Join(w.Dir, ".config", "perdure", "config.toml")
	if err := os.MkdirAll(filepath.Dir(conf), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(conf, []byte("[permissions]\ndeny = [\"Bash(sh:*)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Fails(app.ExitFailed, "denied by the rule Bash(sh:*)", "task", "restart", "srv")
	runs("a rule of today")
	w.Fails(app.ExitFailed, "denied by the rule Bash(sh:*)", "task", "run", "--session", "srv", "--", "sh", "-c", "true")
	if err := os.Remove(conf); err != nil {
		t.Fatal(err)
	}
	away := work + "-away"
	if err := os.Rename(work, away); err != nil {
		t.Fatal(err)
	}
	w.Fails(app.ExitFailed, "not a directory", "task", "restart", "srv")
	runs("no directory")
	if err := os.Rename(away, work); err != nil {
		t.Fatal(err)
	}
	w.App.Environ = append(w.App.Environ, "PATH="+w.Dir)
	w.Fails(app.ExitMissing, "sh: command not found", "task", "restart", "srv")
	runs("no program")
}

// Goal: a task is named by its name, by its id, or by its session and either, in every verb alike; of several the
// running one is meant, which is told, and several that run are named.
func TestTaskNames(t *testing.T) {
	w := clitest.New(t)
	id := w.RunTask("--name", "web", "--stdin", "--", "sh", "-c", "echo up; cat")
	for _, args := range [][]string{{"web"}, {"bash_1"}, {"web", "web"}, {"web", "bash_1"}, {id, "web"}} {
		w.OK(append([]string{"task", "output"}, args...)...)
		w.OK(append(append([]string{"task", "write"}, args...), "line")...)
		w.OK(append(append([]string{"task", "restart-policy"}, args...), "never")...)
		w.OK(append(append([]string{"task", "wait"}, args...), "--for-line", "line")...)
		w.OK(append([]string{"task", "restart"}, args...)...)
		if o := w.Run(append([]string{"task", "kill"}, args...)...); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "bash_1 web: killed SIGTERM by user") {
			t.Errorf("kill %v: %+v", args, o)
		}
		w.OK(append([]string{"task", "restart"}, args...)...)
	}
	other := w.RunTask("--name", "web", "--", "sh", "-c", "echo other; exec sleep 300")
	for _, verb := range []string{"kill", "restart", "output", "wait", "attach"} {
		o := w.Fails(app.ExitUsage, `2 tasks are called "web"`, "task", verb, "web")
		if !strings.Contains(o.Stderr, id+" bash_1") || !strings.Contains(o.Stderr, other+" bash_1") {
			t.Errorf("%s: %s", verb, o.Stderr)
		}
	}
	w.OK("task", "kill", id, "bash_1")
	if o := w.Run("task", "output", "web"); o.Stdout != "other\n" || !strings.Contains(o.Stderr, other+" bash_1 runs; another task") {
		t.Errorf("the one that runs: %+v", o)
	}
	// In one session too.
	w.OK("task", "run", "--session", other, "--name", "job", "--", "true")
	w.AwaitTask(other, "bash_2", "exited")
	w.OK("task", "run", "--session", other, "--name", "job", "--", "sh", "-c", "echo second; exec sleep 300")
	clitest.Until(t, "it prints", func() bool { return w.Run("task", "output", other, "job").Stdout == "second\n" })
	if o := w.Run("task", "kill", "web", "job"); o.Code != 0 || !strings.Contains(o.Stderr, "bash_3 job: killed") {
		t.Errorf("%+v", o) // a name of a task each
	}
	w.OK("task", "kill", other, "--all")
	if o := w.Run("task", "wait", "bash_1"); o.Code != 128+int(syscall.SIGTERM) || !strings.Contains(o.Stderr, "newest") {
		t.Errorf("an id of several that have ended: %+v", o)
	}
}

// Goal: task wait ends as the task did, so that what follows && does not run after a failure.
func TestTaskWaitGivesTheCode(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--", "sh", "-c", "exit 3")
	w.OK("task", "run", "--session", "x", "--", "true")
	w.OK("task", "run", "--session", "x", "--", "sh", "-c", "kill -KILL $$")
	for task, code := range map[string]int{"bash_1": 3, "bash_2": 0, "bash_3": 128 + int(syscall.SIGKILL)} {
		if o := w.Run("task", "wait", "x", task); o.Code != code || !strings.HasPrefix(o.Stdout, task+" ") {
			t.Errorf("%+v", o)
		}
		if o := w.Run("task", "wait", "x", task, "--json"); o.Code != code || !strings.HasPrefix(o.Stdout, "{") {
			t.Errorf("%+v", o)
		}
	}
}

// Goal: a command that is not there is no success, and leaves nothing behind.
func TestTaskRunOfNothing(t *testing.T) {
	w := clitest.New(t)
	plainFile := filepath.Join(w.Dir, "plain")
	if err := os.WriteFile(plainFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]struct {
		words string
		code  int
	}{
		"no-such-program-here": {"no-such-program-here: command not found", app.ExitMissing},
		"./none":               {"./none: no such file", app.ExitMissing},
		"none/none":            {"none/none: no such file", app.ExitMissing},
		plainFile:              {"permission denied", app.ExitFailed},
		w.Dir:                  {"is a directory", app.ExitFailed},
	} {
		w.Fails(want.code, want.words, "task", "run", "--", program, "arg")
		o := w.Fails(want.code, want.words, "task", "run", "--json", "--", program, "arg")
		if strings.Contains(o.Stderr, "PERDURE_HOME") || strings.Contains(o.Stderr, "perdure list") {
			t.Errorf("%s: a remedy of something else: %s", program, o.Stderr)
		}
	}
	if got := w.OK("list", "--json"); got != "" {
		t.Errorf("sessions are left: %s", got)
	}
	w.Create("s1")
	w.Fails(app.ExitMissing, "./none: no such file", "task", "run", "--session", "s1", "--", "./none")
}

// Goal: a task that ended shows when, and how long it ran; after a day it leaves the list.
func TestTaskListOfEnded(t *testing.T) {
	w := clitest.New(t)
	now := time.Now()
	w.App.Now = func() time.Time { return now }
	w.OK("task", "run", "--name", "x", "--", "true")
	w.AwaitTask("x", "bash_1", "exited")
	w.OK("task", "run", "--session", "x", "--", "sleep", "300")
	defer w.Run("task", "kill", "x", "--all")
	now = now.Add(3 * time.Hour)
	row := func(id string, args ...string) string {
		for line := range strings.Lines(w.OK(append([]string{"task", "list"}, args...)...)) {
			if strings.Contains(line, " "+id+" ") || strings.HasPrefix(line, id+" ") {
				return strings.Join(strings.Fields(line), " ")
			}
		}
		return ""
	}
	if got := row("bash_1", "x"); !strings.Contains(got, " 3h ago ") || strings.Contains(got, " 3h 3h") {
		t.Errorf("%q", got)
	}
	l := w.TaskLine("x", "bash_1")
	if ran, ok := l["ran_seconds"].(float64); !ok || ran > 60 {
		t.Errorf("%v", l)
	}
	if got := row("bash_1", "--running"); got != "" || row("bash_2", "--running") == "" {
		t.Errorf("running: %q", got)
	}
	now = now.Add(22 * time.Hour)
	if got := row("bash_1", "x"); got != "" || row("bash_2", "x") == "" {
		t.Errorf("after a day: %q", got)
	}
	if o := w.Run("task", "list"); !strings.Contains(o.Stderr, "1 task that ended more than a day ago is left out") || !strings.Contains(o.Stderr, "--all") {
		t.Errorf("%+v", o)
	}
	if row("bash_1", "--all") == "" || row("bash_1", "x", "--all") == "" {
		t.Error("--all leaves it out")
	}
}

// Goal: -c goes on with a conversation, never with a session that only holds tasks.
func TestContinuePassesOverTasks(t *testing.T) {
	w := clitest.New(t)
	script := filepath.Join(w.Dir, "script.json")
	if err := os.WriteFile(script, []byte(`{"turns":[{"match":"hello","steps":[{"text":"ok"}]},{"match":"go on","steps":[{"text":"ok"}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.OK("-p", "--session-id", "talk", "--model", "scripted/"+script, "hello")
	w.OK("task", "run", "--name", "repl", "--", "true")
	w.OK("-p", "-c", "go on")
	if got := w.OK("show", "talk", "--messages"); !strings.Contains(got, "go on") {
		t.Errorf("%s", got)
	}
}

// Goal: an interrupt leaves a task without a terminal of its own alone, and says so.
func TestAttachInterrupted(t *testing.T) {
	w := clitest.New(t)
	w.RunTask("--name", "srv", "--", "sh", "-c", "echo up; exec sleep 300")
	r, wait := w.Start("task", "attach", "srv")
	clitest.Until(t, "it shows the output", func() bool { return strings.Contains(r.Read().Stdout, "up") })
	w.Signals <- syscall.SIGINT
	wait()
	if o := r.Read(); o.Code != 0 || !strings.Contains(o.Stderr, "detached: bash_1 runs on") {
		t.Errorf("%+v", o)
	}
	if l := w.TaskLine("srv", "bash_1"); l["status"] != "running" {
		t.Errorf("%v", l)
	}
}

// Goal: a terminal that cannot be drawn on gets no screen.
func TestWatchOnADumbTerminal(t *testing.T) {
	w := clitest.New(t)
	w.App.Terminal, w.App.Screen = true, true
	w.App.Environ = append(w.App.Environ, "TERM=dumb")
	if o := w.Fails(app.ExitUsage, "needs a terminal", "task", "watch"); o.Stdout != "" {
		t.Errorf("%+v", o)
	}
}

// Goal: columns stand under each other whatever the characters' width.
func TestTaskListWidths(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "hög-日本語", "--", "true")
	w.OK("task", "run", "--name", "x", "--", "true")
	clitest.Until(t, "both have ended", func() bool { return strings.Count(w.OK("task", "list"), "exited 0") == 2 })
	var at []int
	for line := range strings.Lines(w.OK("task", "list")) {
		before, _, ok := strings.Cut(line, "exited")
		if !ok {
			before, _, _ = strings.Cut(line, "STATUS")
		}
		n := 0
		for _, r := range before {
			if n++; r > 0x2e80 {
				n++
			}
		}
		at = append(at, n)
	}
	if len(at) != 3 || at[0] != at[1] || at[1] != at[2] {
		t.Errorf("%v:\n%s", at, w.OK("task", "list"))
	}
}
