package cli

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

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"
)

// task starts a command under a shim and names it in a session's log, as an agent that is gone since would have.
func (w *world) task(id, name, script string, keep int64) session.CommandState {
	w.t.Helper()
	return w.taskUnder(id, name, script, keep, "")
}

// taskUnder is task as an agent of another boot would have left it in the log; empty is this one.
func (w *world) taskUnder(id, name, script string, keep int64, boot string) session.CommandState {
	w.t.Helper()
	r := &task.Runner{Dir: filepath.Join(w.home, "acts")}
	act := "t1.s1.b" + strings.TrimPrefix(name, "bash_") + ".a1"
	err := r.Start(w.t.Context(), session.CommandSpec{
		Version: 1, Session: id, Act: act, Argv: []string{"/bin/sh", "-c", script}, Cwd: w.dir, KeepBytes: keep,
		Env: append([]string{"GORACE=exitcode=0"}, w.app.Environ...),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			log, _ := os.ReadFile(filepath.Join(r.Dir, id, act, "shim.log"))
			st, _ := r.State(id, act)
			w.t.Logf("%s is %s; its shim says %q", name, st.Status, log)
		}
		_ = r.Kill(context.Background(), id, act, "test")
	})
	st, err := r.State(id, act)
	if err != nil {
		w.t.Fatal(err)
	}
	if boot == "" {
		boot = st.BootID
	}
	w.append(id, store.Actor{Type: store.ActorTool, ID: "Bash"}, &session.TaskStarted{Task: session.Task{
		ID: name, Act: act, Command: script, Cwd: w.dir, PID: st.PID, StartTicks: st.StartTicks, BootID: boot,
	}})
	return st
}

func (w *world) taskLine(id, name string) map[string]any {
	w.t.Helper()
	for _, l := range lines(w.t, w.ok("task", "list", id, "--json")) {
		if l["id"] == name {
			return l
		}
	}
	w.t.Fatalf("task %s is not listed", name)
	return nil
}

func (w *world) awaitTask(id, name, status string) map[string]any {
	w.t.Helper()
	var l map[string]any
	until(w.t, name+" is "+status, func() bool { l = w.taskLine(id, name); return l["status"] == status })
	return l
}

// With no agent alive, task list tells how tasks stand now, not how they stood when the log was written.
func TestTaskListIsLive(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	gate := filepath.Join(w.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	st := w.task("s1", "bash_1", "printf hello; read x < "+gate+"; exit 7", 0)
	until(t, "the output is there", func() bool { return w.taskLine("s1", "bash_1")["output_bytes"] == 5.0 })
	l := w.taskLine("s1", "bash_1")
	if l["status"] != "running" || l["pid"] != float64(st.PID) || l["exit_code"] != nil || l["session_id"] != "s1" || l["output_position"] != 0.0 {
		t.Errorf("running: %v", l)
	}
	if out := w.ok("task", "list"); !strings.Contains(out, "bash_1  running") {
		t.Errorf("text:\n%s", out)
	}
	if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	l = w.awaitTask("s1", "bash_1", "exited")
	if l["exit_code"] != 7.0 || l["pid"] != float64(st.PID) {
		t.Errorf("exited: %v", l)
	}
	shown := lines(t, w.ok("show", "s1", "--json"))[0]["tasks"].([]any)[0].(map[string]any)
	if shown["status"] != "exited" || shown["exit_code"] != 7.0 {
		t.Errorf("show: %v", shown)
	}
	if events := w.ok("log", "s1"); strings.Contains(events, "task.exited") {
		t.Error("looking wrote to the log")
	}
	w.ok("fork", "s1", "--id", "kid")
	if n := len(lines(t, w.ok("task", "list", "--json"))); n != 1 {
		t.Errorf("%d tasks in all: a fork's inherited ones are counted again", n)
	}
	if l := w.taskLine("kid", "bash_1"); l["session_id"] != "s1" {
		t.Errorf("inherited: %v", l)
	}
	if o := w.fails(1, "belongs to session s1", "task", "kill", "kid", "bash_1"); !strings.Contains(o.stderr, "perdure task kill s1 bash_1") {
		t.Errorf("%s", o.stderr)
	}
	if out := w.ok("task", "output", "kid", "bash_1"); out != "hello" {
		t.Errorf("inherited output %q", out)
	}
}

// A kill ends everything that the task started, is in the log before, and is attributed to the user.
func TestTaskKill(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	st := w.task("s1", "bash_1", "setsid sleep 1000 & echo $!; wait", 0)
	w.task("s1", "bash_2", "sleep 1000", 0)
	other := w.task("s1", "bash_3", "sleep 1000", 0)
	var child int
	until(t, "the child is named", func() bool {
		n, _ := fmt.Sscan(w.ok("task", "output", "s1", "bash_1"), &child)
		return n == 1
	})
	o := w.fails(4, `has no task "bash_9"`, "task", "kill", "s1", "bash_1", "bash_9")
	if !strings.Contains(o.stderr, "nearest: bash_1, bash_2, bash_3") {
		t.Errorf("%s", o.stderr)
	}
	if syscall.Kill(st.PID, 0) != nil {
		t.Fatal("an unknown task had another one killed")
	}
	w.ok("task", "kill", "s1", "bash_1", "bash_2")
	for _, pid := range []int{st.PID, child} {
		if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
	if l := w.taskLine("s1", "bash_1"); l["status"] != "killed" || l["by"] != "user" || l["exit_code"] != nil {
		t.Errorf("killed: %v", l)
	}
	if err := syscall.Kill(other.PID, 0); err != nil {
		t.Errorf("the other task: %v", err)
	}
	events := w.ok("log", "s1")
	if i, j := strings.Index(events, "task.signalled"), strings.Index(events, "task.exited"); i < 0 || j < i {
		t.Errorf("the wish does not come before the end:\n%s", events)
	}
	if o := w.run("task", "kill", "s1", "bash_1"); o.code != 0 || !strings.Contains(o.stderr, "has ended already") {
		t.Errorf("again: %+v", o)
	}
	w.fails(4, "no session", "task", "kill", "nope", "bash_1")
	w.fails(2, "which tasks", "task", "kill", "s1")
	w.ok("verify", "s1")
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(b), ") Z ")
}

// A command that ended and left processes can still be killed, with all of them.
func TestTaskKillEndsStragglers(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.task("s1", "bash_1", "setsid sleep 1000 > /dev/null & exit 0", 0)
	l := w.awaitTask("s1", "bash_1", "exited")
	if l["stragglers"] != 1.0 {
		t.Fatalf("%v", l)
	}
	if plan := w.ok("delete", "s1", "--dry-run"); !strings.Contains(plan, "ends bash_1 (pid ") {
		t.Errorf("%s", plan)
	}
	w.ok("task", "kill", "s1", "bash_1")
	if l := w.taskLine("s1", "bash_1"); l["stragglers"] != nil || l["status"] != "exited" || l["exit_code"] != 0.0 {
		t.Errorf("after the kill: %v", l)
	}
	w.ok("delete", "s1", "--yes")
	if _, err := os.Stat(filepath.Join(w.home, "acts", "s1")); !os.IsNotExist(err) {
		t.Errorf("acts/s1: %v", err)
	}
}

// Output comes byte for byte, with each gap named in its place.
func TestTaskOutput(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	const keep, total = 16 << 10, 100_000
	w.task("s1", "bash_1", `printf 'a\033[31m\000b'; head -c 99992 /dev/zero | tr '\0' x`, keep)
	w.awaitTask("s1", "bash_1", "exited")
	out := w.ok("task", "output", "s1", "bash_1")
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
	o := w.run("task", "output", "s1", "bash_1", "--raw")
	if o.stdout != before+after || o.stderr != fmt.Sprintf("[%d bytes omitted]\n", gap) {
		t.Errorf("raw: %d bytes, stderr %q", len(o.stdout), o.stderr)
	}
	w.fails(4, "has no task", "task", "output", "s1", "bash_2")
	w.fails(4, "no session has a task", "task", "output", "bash_2")
	if got := w.ok("task", "output", "s1"); got != out {
		t.Errorf("the one task of a session: %d bytes", len(got))
	}
	if err := os.RemoveAll(filepath.Join(w.home, "acts", "s1")); err != nil {
		t.Fatal(err)
	}
	w.fails(1, "is gone", "task", "output", "s1", "bash_1")
	if l := w.taskLine("s1", "bash_1"); l["status"] != "lost" || l["reason"] != "dir_missing" || l["exit_code"] != nil {
		t.Errorf("without its directory: %v", l)
	}
}

// A follower gets what comes, up to the task's end, or to an interrupt.
func TestTaskOutputFollow(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	gate := filepath.Join(w.dir, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	w.task("s1", "bash_1", "echo one; read x < "+gate+"; echo two", 0)
	r, wait := w.start("task", "output", "s1", "bash_1", "--follow")
	until(t, "the first line is shown", func() bool { return r.read().stdout == "one\n" })
	if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	wait()
	if o := r.read(); o.code != 0 || o.stdout != "one\ntwo\n" {
		t.Errorf("followed to the end: %+v", o)
	}
	w.task("s1", "bash_2", "echo one; exec sleep 1000", 0)
	r, wait = w.start("task", "output", "s1", "bash_2", "--follow")
	until(t, "the first line is shown", func() bool { return r.read().stdout == "one\n" })
	w.signals <- syscall.SIGINT
	wait()
	if o := r.read(); o.code != 130 {
		t.Errorf("after SIGINT: %+v", o)
	}
	if l := w.taskLine("s1", "bash_2"); l["status"] != "running" {
		t.Errorf("looking on ended it: %v", l)
	}
}

// A task is killed while a live process holds its session: the holder hears of it, and the kill waits for the end.
func TestTaskKillUnderALiveHolder(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	script := asking("Bash", map[string]any{"command": "sleep 1000", "run_in_background": true})
	script = strings.Replace(script, `{"text":"done"}`, `{"text":"slow","delay_ms":60000},{"text":"done"}`, 1)
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		w.hold(ctx, "s1", script)
	}()
	defer func() { cancel(); <-ended }()
	until(t, "the task runs", func() bool {
		tasks := lines(t, w.ok("task", "list", "s1", "--json"))
		return len(tasks) == 1 && tasks[0]["status"] == "running"
	})
	pid := int(w.taskLine("s1", "bash_1")["pid"].(float64))
	start := time.Now()
	w.ok("task", "kill", "s1", "bash_1")
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Error("the process lives")
	}
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("it took %s", d)
	}
	until(t, "the holder logged the end", func() bool { return strings.Contains(w.ok("log", "s1"), "task.exited") })
}

// Goal: the list has the figures of what runs, for people and for programs, and says null where there is none.
func TestTaskFigures(t *testing.T) {
	w := newWorld(t)
	w.ok("task", "run", "--name", "x", "--", "sh", "-c", "while :; do :; done")
	w.ok("task", "run", "--session", "x", "--", "sh", "-c", "exit 3")
	var l map[string]any
	until(t, "processor time is seen", func() bool {
		l = w.taskLine("x", "bash_1")
		cpu, _ := l["cpu_seconds"].(float64)
		return cpu > 0
	})
	if rss, _ := l["rss_bytes"].(float64); rss < 4096 || l["age_seconds"] == nil || l["processes"] != 1.0 || l["exit_code"] != nil {
		t.Errorf("%v", l)
	}
	if ports, ok := l["ports"].([]any); !ok || len(ports) != 0 {
		t.Errorf("ports %v", l["ports"])
	}
	over := w.awaitTask("x", "bash_2", "exited")
	if cpu, ok := over["cpu_seconds"]; !ok || cpu != nil || over["rss_bytes"] != nil || over["processes"] != 0.0 || over["exit_code"] != 3.0 || over["pid"] == 0.0 {
		t.Errorf("%v", over)
	}
	got := w.ok("task", "list")
	head, _, _ := strings.Cut(got, "\n")
	if f := strings.Fields(head); strings.Join(f, " ") != "SESSION TASK NAME STATUS PID AGE ENDED CPU MEMORY PORTS OUTPUT UNREAD COMMAND" {
		t.Errorf("%s", got)
	}
	if head, _, _ := strings.Cut(w.ok("task", "list", "x"), "\n"); strings.Contains(head, "SESSION") {
		t.Errorf("%s", head)
	}
	w.ok("task", "kill", "x", "bash_1")
}

// What of an output may be missing, because nobody held it, is told beside it and in JSON.
func TestTaskOutputMissing(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.task("s1", "bash_1", "echo one; exit 3", 0)
	w.awaitTask("s1", "bash_1", "exited")
	if o := w.run("task", "output", "s1", "bash_1"); o.stderr != "" || o.stdout != "one\n" {
		t.Errorf("nothing is missing: %q, %q", o.stdout, o.stderr)
	}
	if l := w.taskLine("s1", "bash_1"); l["missing_after"] != nil {
		t.Errorf("%v", l)
	}
	note := filepath.Join(w.home, "acts", "s1", "t1.s1.b1.a1", "unread.0000000000000004")
	if err := os.WriteFile(note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := w.run("task", "output", "s1", "bash_1")
	if o.stdout != "one\n" || !strings.Contains(o.stderr, "what it printed after byte 4 may be missing: nobody was reading") {
		t.Errorf("%q, %q", o.stdout, o.stderr)
	}
	all := lines(t, w.ok("task", "output", "s1", "bash_1", "--json"))
	if last := all[len(all)-1]; last["missing_after"] != 4.0 {
		t.Errorf("%v", all)
	}
	if l := w.taskLine("s1", "bash_1"); l["missing_after"] != 4.0 {
		t.Errorf("%v", l)
	}
	// The log learns it with the end, and tells the model.
	w.prompt("s1", asking("Glob", map[string]string{"pattern": "none"}), "go", "")
	if !strings.Contains(w.ok("log", "s1", "--json"), `bash_1 ended with exit code 3; what it printed after byte 4 may be missing`) {
		t.Errorf("%s", w.ok("log", "s1", "--json"))
	}
}

// On a terminal a list of tasks keeps to one line each: sessions by the ends of their ids, and of the figures those that
// fit. A pipe has all.
func TestTaskListFitsTheTerminal(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"web", "the api"} {
		w.ok("task", "run", "--name", name, "--", "sh", "-c", "exit 3 # "+strings.Repeat("a long command ", 12))
		until(t, "it ended", func() bool { return w.taskLine(name, "bash_1")["status"] == "exited" })
	}
	whole := w.taskLine("web", "bash_1")["session_id"].(string)
	if out := w.ok("task", "list"); !strings.Contains(out, whole) || !strings.Contains(out, "UNREAD") {
		t.Errorf("a pipe: %s", out)
	}
	w.app.Screen = true
	for columns, heads := range map[int]string{80: "STATUS", 200: "UNREAD"} {
		w.app.Size = func() (int, int) { return columns, 24 }
		out := w.ok("task", "list")
		for line := range strings.Lines(out) {
			if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > columns {
				t.Errorf("%d cells of %d: %s", n, columns, line)
			}
		}
		if strings.Contains(out, whole) || !strings.Contains(out, shortID(whole, shortLength)) || !strings.Contains(out, heads) {
			t.Errorf("%d columns:\n%s", columns, out)
		}
	}
	w.ok("task", "output", shortID(whole, shortLength), "bash_1")
}
