package tasks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// With no agent alive, task list tells how tasks stand now, not how they stood when the log was written.
func TestTaskListIsLive(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	gate := filepath.Join(w.Dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	st := w.Task("s1", "bash_1", "printf hello; read x < "+gate+"; exit 7", 0)
	clitest.Until(t, "the output is there", func() bool { return w.TaskLine("s1", "bash_1")["output_bytes"] == 5.0 })
	l := w.TaskLine("s1", "bash_1")
	if l["status"] != "running" || l["pid"] != float64(st.PID) || l["exit_code"] != nil || l["session_id"] != "s1" || l["output_position"] != 0.0 {
		t.Errorf("running: %v", l)
	}
	if out := w.OK("task", "list"); !strings.Contains(out, "bash_1  running") {
		t.Errorf("text:\n%s", out)
	}
	if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	l = w.AwaitTask("s1", "bash_1", "exited")
	if l["exit_code"] != 7.0 || l["pid"] != float64(st.PID) {
		t.Errorf("exited: %v", l)
	}
	shown := clitest.Lines(t, w.OK("show", "s1", "--json"))[0]["tasks"].([]any)[0].(map[string]any)
	if shown["status"] != "exited" || shown["exit_code"] != 7.0 {
		t.Errorf("show: %v", shown)
	}
	if events := w.OK("log", "s1"); strings.Contains(events, "task.exited") {
		t.Error("looking wrote to the log")
	}
	w.OK("fork", "s1", "--id", "kid")
	if n := len(clitest.Lines(t, w.OK("task", "list", "--json"))); n != 1 {
		t.Errorf("%d tasks in all: a fork's inherited ones are counted again", n)
	}
	if l := w.TaskLine("kid", "bash_1"); l["session_id"] != "s1" {
		t.Errorf("inherited: %v", l)
	}
	if o := w.Fails(1, "belongs to session s1", "task", "kill", "kid", "bash_1"); !strings.Contains(o.Stderr, "perdure task kill s1 bash_1") {
		t.Errorf("%s", o.Stderr)
	}
	if out := w.OK("task", "output", "kid", "bash_1"); out != "hello" {
		t.Errorf("inherited output %q", out)
	}
}

// A kill ends everything that the task started, is in the log before, and is attributed to the user.
func TestTaskKill(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	st := w.Task("s1", "bash_1", "setsid sleep 1000 & echo $!; wait", 0)
	w.Task("s1", "bash_2", "sleep 1000", 0)
	other := w.Task("s1", "bash_3", "sleep 1000", 0)
	var child int
	clitest.Until(t, "the child is named", func() bool {
		n, _ := fmt.Sscan(w.OK("task", "output", "s1", "bash_1"), &child)
		return n == 1
	})
	o := w.Fails(4, `has no task "bash_9"`, "task", "kill", "s1", "bash_1", "bash_9")
	if !strings.Contains(o.Stderr, "nearest: bash_1, bash_2, bash_3") {
		t.Errorf("%s", o.Stderr)
	}
	if syscall.Kill(st.PID, 0) != nil {
		t.Fatal("an unknown task had another one killed")
	}
	w.OK("task", "kill", "s1", "bash_1", "bash_2")
	for _, pid := range []int{st.PID, child} {
		if err := syscall.Kill(pid, 0); err == nil && !clitest.Zombie(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
	if l := w.TaskLine("s1", "bash_1"); l["status"] != "killed" || l["by"] != "user" || l["exit_code"] != nil {
		t.Errorf("killed: %v", l)
	}
	if err := syscall.Kill(other.PID, 0); err != nil {
		t.Errorf("the other task: %v", err)
	}
	events := w.OK("log", "s1")
	if i, j := strings.Index(events, "task.signalled"), strings.Index(events, "task.exited"); i < 0 || j < i {
		t.Errorf("the wish does not come before the end:\n%s", events)
	}
	if o := w.Run("task", "kill", "s1", "bash_1"); o.Code != 0 || !strings.Contains(o.Stderr, "has ended already") {
		t.Errorf("again: %+v", o)
	}
	w.Fails(4, "no session", "task", "kill", "nope", "bash_1")
	w.Fails(2, "which tasks", "task", "kill", "s1")
	w.OK("verify", "s1")
}

// A command that ended and left processes can still be killed, with all of them.
func TestTaskKillEndsStragglers(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Task("s1", "bash_1", "setsid sleep 1000 > /dev/null & exit 0", 0)
	l := w.AwaitTask("s1", "bash_1", "exited")
	if l["stragglers"] != 1.0 {
		t.Fatalf("%v", l)
	}
	if plan := w.OK("delete", "s1", "--dry-run"); !strings.Contains(plan, "ends bash_1 (pid ") {
		t.Errorf("%s", plan)
	}
	w.OK("task", "kill", "s1", "bash_1")
	if l := w.TaskLine("s1", "bash_1"); l["stragglers"] != nil || l["status"] != "exited" || l["exit_code"] != 0.0 {
		t.Errorf("after the kill: %v", l)
	}
	w.OK("delete", "s1", "--yes")
	if _, err := os.Stat(filepath.Join(w.Home, "acts", "s1")); !os.IsNotExist(err) {
		t.Errorf("acts/s1: %v", err)
	}
}

// Output comes byte for byte, with each gap named in its place.
func TestTaskOutput(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	const keep, total = 16 << 10, 100_000
	w.Task("s1", "bash_1", `printf 'a\033[31m\000b'; head -c 99992 /dev/zero | tr '\0' x`, keep)
	w.AwaitTask("s1", "bash_1", "exited")
	out := w.OK("task", "output", "s1", "bash_1")
	if !strings.HasPrefix(out, "a\x1b[31m\x00bx") {
		t.Errorf("begins with %q", out[:min(len(out), 20)])
	}
	before, rest, found := strings.Cut(out, "\n[")
	number, after, closed := strings.Cut(rest, " bytes omitted]\n")
	var gap int
	if _, err := fmt.Sscan(number, &gap); err != nil || !found || !closed {
		t.Fatalf("no gap is named: %q", rest[:min(len(rest), 40)])
	}
	if len(before)+gap+len(after) != total {
		t.Errorf("%d + %d + %d bytes: want %d", len(before), gap, len(after), total)
	}
	o := w.Run("task", "output", "s1", "bash_1", "--raw")
	if o.Stdout != before+after || o.Stderr != fmt.Sprintf("[%d bytes omitted]\n", gap) {
		t.Errorf("raw: %d bytes, stderr %q", len(o.Stdout), o.Stderr)
	}
	w.Fails(4, "has no task", "task", "output", "s1", "bash_2")
	w.Fails(4, "no session has a task", "task", "output", "bash_2")
	if got := w.OK("task", "output", "s1"); got != out {
		t.Errorf("the one task of a session: %d bytes", len(got))
	}
	if err := os.RemoveAll(filepath.Join(w.Home, "acts", "s1")); err != nil {
		t.Fatal(err)
	}
	w.Fails(1, "is gone", "task", "output", "s1", "bash_1")
	if l := w.TaskLine("s1", "bash_1"); l["status"] != "lost" || l["reason"] != "dir_missing" || l["exit_code"] != nil {
		t.Errorf("without its directory: %v", l)
	}
}

// A follower gets what comes, up to the task's end, or to an interrupt.
func TestTaskOutputFollow(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	gate := filepath.Join(w.Dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Task("s1", "bash_1", "echo one; read x < "+gate+"; echo two", 0)
	r, wait := w.Start("task", "output", "s1", "bash_1", "--follow")
	clitest.Until(t, "the first line is shown", func() bool { return r.Read().Stdout == "one\n" })
	if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	wait()
	if o := r.Read(); o.Code != 0 || o.Stdout != "one\ntwo\n" {
		t.Errorf("followed to the end: %+v", o)
	}
	w.Task("s1", "bash_2", "echo one; exec sleep 1000", 0)
	r, wait = w.Start("task", "output", "s1", "bash_2", "--follow")
	clitest.Until(t, "the first line is shown", func() bool { return r.Read().Stdout == "one\n" })
	w.Signals <- syscall.SIGINT
	wait()
	if o := r.Read(); o.Code != 130 {
		t.Errorf("after SIGINT: %+v", o)
	}
	if l := w.TaskLine("s1", "bash_2"); l["status"] != "running" {
		t.Errorf("looking on ended it: %v", l)
	}
}

// A task is killed while a live process holds its session: the holder hears of it, and the kill waits for the end.
func TestTaskKillUnderALiveHolder(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	script := clitest.Asking("Bash", map[string]any{"command": "sleep 1000", "run_in_background": true})
	script = strings.Replace(script, `{"text":"done"}`, `{"text":"slow","delay_ms":60000},{"text":"done"}`, 1)
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		w.Hold(ctx, "s1", script)
	}()
	defer func() { cancel(); <-ended }()
	clitest.Until(t, "the task runs", func() bool {
		tasks := clitest.Lines(t, w.OK("task", "list", "s1", "--json"))
		return len(tasks) == 1 && tasks[0]["status"] == "running"
	})
	pid := int(w.TaskLine("s1", "bash_1")["pid"].(float64))
	start := time.Now()
	w.OK("task", "kill", "s1", "bash_1")
	if err := syscall.Kill(pid, 0); err == nil && !clitest.Zombie(pid) {
		t.Error("the process lives")
	}
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("it took %s", d)
	}
	clitest.Until(t, "the holder logged the end", func() bool { return strings.Contains(w.OK("log", "s1"), "task.exited") })
}

// Goal: the list has the figures of what runs, for people and for programs, and says null where there is none.
func TestTaskFigures(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--", "sh", "-c", "while :; do :; done")
	w.OK("task", "run", "--session", "x", "--", "sh", "-c", "exit 3")
	var l map[string]any
	clitest.Until(t, "processor time is seen", func() bool {
		l = w.TaskLine("x", "bash_1")
		cpu, _ := l["cpu_seconds"].(float64)
		return cpu > 0
	})
	if rss, _ := l["rss_bytes"].(float64); rss < 4096 || l["age_seconds"] == nil || l["processes"] != 1.0 || l["exit_code"] != nil {
		t.Errorf("%v", l)
	}
	if ports, ok := l["ports"].([]any); !ok || len(ports) != 0 {
		t.Errorf("ports %v", l["ports"])
	}
	over := w.AwaitTask("x", "bash_2", "exited")
	if cpu, ok := over["cpu_seconds"]; !ok || cpu != nil || over["rss_bytes"] != nil || over["processes"] != 0.0 || over["exit_code"] != 3.0 || over["pid"] == 0.0 {
		t.Errorf("%v", over)
	}
	got := w.OK("task", "list")
	head, _, _ := strings.Cut(got, "\n")
	if f := strings.Fields(head); strings.Join(f, " ") != "SESSION TASK NAME STATUS PID AGE ENDED CPU MEMORY PORTS OUTPUT UNREAD COMMAND" {
		t.Errorf("%s", got)
	}
	if head, _, _ := strings.Cut(w.OK("task", "list", "x"), "\n"); strings.Contains(head, "SESSION") {
		t.Errorf("%s", head)
	}
	w.OK("task", "kill", "x", "bash_1")
}

// What of an output may be missing, because nobody held it, is told beside it and in JSON.
func TestTaskOutputMissing(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Task("s1", "bash_1", "echo one; exit 3", 0)
	w.AwaitTask("s1", "bash_1", "exited")
	if o := w.Run("task", "output", "s1", "bash_1"); o.Stderr != "" || o.Stdout != "one\n" {
		t.Errorf("nothing is missing: %q, %q", o.Stdout, o.Stderr)
	}
	if l := w.TaskLine("s1", "bash_1"); l["missing_after"] != nil {
		t.Errorf("%v", l)
	}
	note := filepath.Join(w.Home, "acts", "s1", "t1.s1.b1.a1", "unread.0000000000000004")
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.Run("task", "output", "s1", "bash_1")
	if o.Stdout != "one\n" || !strings.Contains(o.Stderr, "what it printed after byte 4 may be missing: nobody was reading") {
		t.Errorf("%q, %q", o.Stdout, o.Stderr)
	}
	all := clitest.Lines(t, w.OK("task", "output", "s1", "bash_1", "--json"))
	if last := all[len(all)-1]; last["missing_after"] != 4.0 {
		t.Errorf("%v", all)
	}
	if l := w.TaskLine("s1", "bash_1"); l["missing_after"] != 4.0 {
		t.Errorf("%v", l)
	}
	// The log learns it with the end, and tells the model.
	w.Prompt("s1", clitest.Asking("Glob", map[string]string{"pattern": "none"}), "go", "")
	if !strings.Contains(w.OK("log", "s1", "--json"), `bash_1 ended with exit code 3; what it printed after byte 4 may be missing`) {
		t.Errorf("%s", w.OK("log", "s1", "--json"))
	}
}

// On a terminal a list of tasks keeps to one line each: sessions by the ends of their ids, and of the figures those that
// fit. A pipe has all.
func TestTaskListFitsTheTerminal(t *testing.T) {
	w := clitest.New(t)
	for _, name := range []string{"web", "the api"} {
		w.OK("task", "run", "--name", name, "--", "sh", "-c", "exit 3 # "+strings.Repeat("a long command ", 12))
		clitest.Until(t, "it ended", func() bool { return w.TaskLine(name, "bash_1")["status"] == "exited" })
	}
	whole := w.TaskLine("web", "bash_1")["session_id"].(string)
	if out := w.OK("task", "list"); !strings.Contains(out, whole) || !strings.Contains(out, "UNREAD") {
		t.Errorf("a pipe: %s", out)
	}
	w.App.Screen = true
	for columns, heads := range map[int]string{80: "STATUS", 200: "UNREAD"} {
		w.App.Size = func() (int, int) { return columns, 24 }
		out := w.OK("task", "list")
		for line := range strings.Lines(out) {
			if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > columns {
				t.Errorf("%d cells of %d: %s", n, columns, line)
			}
		}
		if strings.Contains(out, whole) || !strings.Contains(out, app.ShortID(whole, app.ShortLength)) || !strings.Contains(out, heads) {
			t.Errorf("%d columns:\n%s", columns, out)
		}
	}
	w.OK("task", "output", app.ShortID(whole, app.ShortLength), "bash_1")
}
