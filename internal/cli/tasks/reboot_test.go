package tasks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// reboot leaves the home as a restart of the machine does: the records are of another boot, and no process is left.
func reboot(w *clitest.World) {
	w.T.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.Home, "acts", "*", "*"))
	if err != nil {
		w.T.Fatal(err)
	}
	for _, dir := range dirs {
		keepers := stopKeepers(w, dir) // or one of them would record how the command ended
		for _, name := range []string{"spec.json", "run.json"} {
			otherBoot(w, filepath.Join(dir, name))
		}
		var command struct {
			PID int `json:"pid"`
		}
		readJSON(w, filepath.Join(dir, "run.json"), &command)
		for _, pid := range keepers {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		clitest.Until(w.T, "shim and stand-in are gone", func() bool { return len(keepersOf(dir)) == 0 })
		if command.PID > 1 {
			_ = syscall.Kill(-command.PID, syscall.SIGKILL)
			clitest.Until(w.T, "the command is gone", func() bool { return syscall.Kill(command.PID, 0) != nil || clitest.Zombie(command.PID) })
		}
	}
}

// stopKeepers stops the shim of a command and the stand-in that would replace it, so that neither acts when the other
// dies.
func stopKeepers(w *clitest.World, dir string) (stopped []int) {
	w.T.Helper()
	clitest.Until(w.T, "shim and stand-in stand still", func() bool {
		found := keepersOf(dir)
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		settled := slices.Equal(found, stopped)
		stopped = found
		return settled
	})
	return stopped
}

// keepersOf lists the processes that have the directory of a command on their command line.
func keepersOf(dir string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		b, _ := os.ReadFile(file) // it may just have ended
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))); strings.Contains(string(b), "\x00"+dir+"\x00") && !clitest.Zombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func readJSON(w *clitest.World, path string, v any) {
	b, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(b)) != "" {
		err = json.Unmarshal(b, v)
	}
	if err != nil && !os.IsNotExist(err) {
		w.T.Fatalf("%s: %v", path, err)
	}
}

func otherBoot(w *clitest.World, path string) {
	record := map[string]any{}
	readJSON(w, path, &record)
	if len(record) == 0 {
		return
	}
	record["boot_id"] = "00000000-0000-0000-0000-000000000000"
	b, err := json.Marshal(record)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

// Goal: what a reboot took is told with its last output by everybody who looks, and restore runs exactly that again
// which a human granted it to, once, under its id, with the old attempt kept.
func TestRebootAndRestore(t *testing.T) {
	w := clitest.New(t)
	id := w.RunTask("--name", "web", "--restart", "on-reboot", "--", "sh", "-c", "echo up; echo serving; exec sleep 600")
	w.RunTask("--session", "web", "--", "sh", "-c", "echo other; exec sleep 600")
	w.RunTask("--session", "web", "--", "sh", "-c", "echo third; exec sleep 600")
	w.OK("task", "restart-policy", "web", "bash_3", "on-reboot")
	w.OK("task", "restart-policy", "web", "bash_3", "never")
	reboot(w)

	for range 2 { // looking changes nothing
		l := w.TaskLine("web", "bash_1")
		if l["status"] != "lost" || l["reason"] != "reboot" || l["exit_code"] != nil || l["last_output"] != "up\nserving" {
			t.Errorf("listed as %v", l)
		}
	}
	if out := w.OK("show", "web"); !strings.Contains(out, "lost (reboot)") || !strings.Contains(out, "    serving\n") {
		t.Errorf("show:\n%s", out)
	}

	got := w.Run("task", "restore")
	if got.Code != 0 || !strings.Contains(got.Stdout, id+" bash_1 runs again") || strings.Contains(got.Stdout, "bash_2") || strings.Contains(got.Stdout, "bash_3") {
		t.Errorf("restore: %+v", got)
	}
	for _, words := range []string{"bash_2 stays down: its restart policy is never", "> other", "perdure task restart " + id + " bash_2", "bash_3 stays down"} {
		if !strings.Contains(got.Stderr, words) {
			t.Errorf("restore does not say %q:\n%s", words, got.Stderr)
		}
	}
	clitest.Until(t, "the new attempt prints", func() bool { return w.OK("task", "output", "web", "bash_1") == "up\nserving\n" })
	l := w.TaskLine("web", "bash_1")
	if l["status"] != "running" || l["attempt"] != 2.0 || l["attempts"].([]any)[0].(map[string]any)["reason"] != "reboot" {
		t.Errorf("restored as %v", l)
	}
	if out := w.OK("task", "output", "web", "bash_1", "--attempt", "1"); out != "up\nserving\n" {
		t.Errorf("the old attempt printed %q", out)
	}
	w.Fails(app.ExitMissing, "no attempt 3", "task", "output", "web", "bash_1", "--attempt", "3")
	pid := l["pid"]
	if o := w.Run("task", "restore"); o.Code != 0 || o.Stdout != "" {
		t.Errorf("again: %+v", o)
	}
	if l := w.TaskLine("web", "bash_1"); l["pid"] != pid || l["attempt"] != 2.0 {
		t.Errorf("restored twice: %v", l)
	}
	w.ChecksOf(0) // and doctor calls no kept attempt a stray
	_, d := w.ChecksOf(0)
	if len(d["orphans"].([]any)) != 0 {
		t.Errorf("strays: %v", d["orphans"])
	}
}

// Goal: restoring many times at once starts a task once.
func TestRestoreAtOnce(t *testing.T) {
	w := clitest.New(t)
	w.RunTask("--name", "web", "--restart", "on-reboot", "--", "sh", "-c", "echo $$ >> pids; echo up; exec sleep 600")
	reboot(w)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if o := w.Run("task", "restore"); o.Code != 0 {
				t.Errorf("%+v", o)
			}
		})
	}
	wg.Wait()
	clitest.Until(t, "it is up", func() bool { return w.OK("task", "output", "web", "bash_1") == "up\n" })
	if b, err := os.ReadFile(filepath.Join(w.Dir, "pids")); err != nil || strings.Count(string(b), "\n") != 2 {
		t.Errorf("ran as %q, %v", b, err)
	}
	if l := w.TaskLine("web", "bash_1"); l["attempt"] != 2.0 {
		t.Errorf("%v", l)
	}
}

// Goal: a rule that was written since, plan mode, and a missing directory keep a task down, and the reason is told; the
// next restore does not try again.
func TestRestoreRefused(t *testing.T) {
	w := clitest.New(t)
	deny := filepath.Join(w.Dir, ".config", "perdure", "config.toml")
	if err := os.MkdirAll(filepath.Dir(deny), 0o700); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(w.Dir, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	w.RunTask("--name", "denied", "--restart", "on-reboot", "--", "tail", "-n1", "-f", "/proc/version")
	home := w.App.Dir
	w.App.Dir = gone
	w.RunTask("--name", "gone", "--restart", "on-reboot", "--", "sh", "-c", "echo up; sleep 600")
	w.App.Dir = home
	w.RunTask("--name", "asked", "--restart", "on-reboot", "--", "sh", "-c", "echo up; sleep 600")
	w.RunTask("--name", "planned", "--restart", "on-reboot", "--", "sh", "-c", "echo up; sleep 600")
	reboot(w)
	plan := "plan"
	w.Append(idOf(w, "planned"), store.Actor{Type: store.ActorUser}, &session.Configured{Mode: &plan})
	if err := os.WriteFile(deny, []byte("[permissions]\ndeny = [\"Bash(tail:*)\"]\nask = [\"Bash(sh:*)\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	o := w.Run("task", "restore")
	if o.Code != app.ExitFailed || strings.Count(o.Stdout, "\n") != 1 || !strings.Contains(o.Stdout, idOf(w, "asked")+" bash_1 runs again") {
		t.Errorf("%+v", o)
	}
	for name, words := range map[string]string{"denied": "permission denied", "planned": "plan", "gone": "not a directory"} {
		want := fmt.Sprintf("%s bash_1 stays down: ", idOf(w, name))
		i := strings.Index(o.Stderr, want)
		if i < 0 || !strings.Contains(strings.SplitN(o.Stderr[i:], "\n", 2)[0], words) {
			t.Errorf("%s: no %q with %q in\n%s", name, want, words, o.Stderr)
		}
		if l := w.TaskLine(name, "bash_1"); l["status"] != "lost" || !strings.Contains(fmt.Sprint(l["not_restarted"]), words) {
			t.Errorf("%s: %v", name, l)
		}
	}
	if o := w.Run("task", "restore"); o.Stdout != "" {
		t.Errorf("again: %+v", o)
	}
}

func idOf(w *clitest.World, name string) string {
	w.T.Helper()
	for _, l := range clitest.Lines(w.T, w.OK("list", "--json")) {
		if l["title"] == name {
			return l["id"].(string)
		}
	}
	w.T.Fatalf("no session is named %s", name)
	return ""
}

// Goal: the resume of a session reports what the reboot took and what runs again, to the person and to the model.
func TestResumeAfterReboot(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.RunTask("--session", "s1", "--restart", "on-reboot", "--", "sh", "-c", "echo up; exec sleep 600")
	w.RunTask("--session", "s1", "--", "sh", "-c", "printf '\\033[31mhalf'; exec sleep 600")
	reboot(w)
	r := w.Prompt("s1", `{"turns":[{"match":"go","steps":[{"text":"done"}]}]}`, "go", "")
	var told []string
	for _, rec := range r.Recovered {
		told = append(told, rec.Kind+" "+rec.ID+" "+rec.Text+"|"+rec.Output)
	}
	all := strings.Join(told, "\n")
	for _, words := range []string{
		"task bash_1 is lost (reboot) meanwhile: sh -c", "|up", "task bash_2 is lost (reboot)", "|half", "task bash_1 runs again after the reboot",
	} {
		if !strings.Contains(all, words) {
			t.Errorf("the report lacks %q:\n%s", words, all)
		}
	}
	seen := w.OK("show", "s1", "--messages")
	for _, words := range []string{"[Background task bash_1 is lost (reboot)", "> up", "[Background task bash_2 is lost (reboot)", "> half", "bash_1 runs again after the reboot, as attempt 2"} {
		if !strings.Contains(seen, words) {
			t.Errorf("the model is not told %q:\n%s", words, seen)
		}
	}
	if l := w.TaskLine("s1", "bash_1"); l["status"] != "running" || l["attempt"] != 2.0 {
		t.Errorf("%v", l)
	}
}

// Goal: a session's own command cannot grant itself to come back.
func TestRestartPolicyIsForHumans(t *testing.T) {
	w := clitest.New(t)
	w.RunTask("--name", "web", "--", "sh", "-c", "echo up; exec sleep 600")
	w.Fails(app.ExitUsage, "restart policy", "task", "restart-policy", "web", "bash_1", "always")
	w.Fails(app.ExitMissing, "bash_7", "task", "restart-policy", "web", "bash_7", "on-reboot")
	outside := w.App.Environ
	t.Cleanup(func() { w.App.Environ = outside }) // from inside, the task would not be ended
	w.App.Environ = append(slices.Clone(outside), "PERDURE_SESSION_ID=web")
	for _, args := range [][]string{
		{"task", "restart-policy", "web", "bash_1", "on-reboot"}, {"task", "restore"}, {"task", "run", "--restart", "on-reboot", "--", "true"},
	} {
		w.Fails(app.ExitFailed, "is for a human", args...)
	}
}

// inProcess runs a command line in a process of its own.
func inProcess(w *clitest.World, args ...string) {
	w.T.Helper()
	exe, err := os.Executable()
	if err != nil {
		w.T.Fatal(err)
	}
	cmd := exec.CommandContext(w.T.Context(), exe)
	cmd.Env, cmd.Dir = append(w.App.Environ, "CLI_TEST_ARGS="+strings.Join(args, "\n")), w.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.T.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// Goal: the agent that goes on with a session minds the tasks that it found there: a shim that dies is replaced at
// once, with nobody looking. A look from outside would adopt, too, so nothing looks here but the process table.
func TestHolderMindsTasks(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	// Another process starts it, and is gone: who starts a task minds it in any case.
	inProcess(w, "task", "run", "--session", "s1", "--", "sh", "-c", "echo up; sleep 600")
	t.Cleanup(func() { w.Run("task", "kill", "s1", "--all") })
	pid := w.TaskLine("s1", "bash_1")["pid"]
	script := `{"turns":[{"match":"go","steps":[{"text":"slow","delay_ms":60000}]}]}`
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		w.Hold(ctx, "s1", script)
	}()
	defer func() { cancel(); <-ended }()
	clitest.Until(t, "the session is held", func() bool { return strings.Contains(w.OK("show", "s1", "--json"), `"activity":"running"`) })
	lock := filepath.Join(w.Home, "acts", "s1", "task.bash_1.a1", "lock")
	shim := func() (pid int) {
		var rec struct {
			PID int `json:"pid"`
		}
		readJSON(w, lock, &rec)
		return rec.PID
	}
	for range 3 {
		old := shim()
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		clitest.Until(t, "another shim is there", func() bool { now := shim(); return now != old && syscall.Kill(now, 0) == nil && !clitest.Zombie(now) })
	}
	if l := w.TaskLine("s1", "bash_1"); l["status"] != "running" || l["pid"] != pid {
		t.Errorf("%v", l)
	}
}

// Goal: a restore that is killed at any moment, again and again, starts the task once in the end.
func TestRestoreKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 3 {
		w := clitest.New(t)
		w.RunTask("--name", "web", "--restart", "on-reboot", "--", "sh", "-c", "echo $$ >> pids; echo up; exec sleep 600")
		reboot(w)
		for range 8 {
			cmd := exec.Command(exe)
			cmd.Env, cmd.Dir = append(w.App.Environ, "CLI_TEST_ARGS=task\nrestore"), w.Dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Duration(rng.IntN(60_000)) * time.Microsecond)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		w.OK("task", "restore")
		clitest.Until(t, "it is up", func() bool { return w.OK("task", "output", "web", "bash_1") == "up\n" })
		b, err := os.ReadFile(filepath.Join(w.Dir, "pids"))
		if err != nil || strings.Count(string(b), "\n") != 2 {
			t.Errorf("it ran as %q, %v", b, err)
		}
		if l := w.TaskLine("web", "bash_1"); l["status"] != "running" || !strings.HasSuffix(string(b), fmt.Sprintf("%v\n", l["pid"])) {
			t.Errorf("%v, ran as %q", l, b)
		}
		w.OK("verify", "web")
	}
}

// Goal: what an orderly shutdown ended keeps its code or signal after the reboot, and runs again if that was granted: the
// log says so, by who ended it and the boot.
func TestRestoreAfterShutdown(t *testing.T) {
	w := clitest.New(t)
	for id, c := range map[string]struct{ script, status, policy string }{
		"handler": {"trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done", "exited", session.RestartOnReboot},
		"signal":  {"echo up; exec sleep 600", "killed", session.RestartOnReboot},
		"never":   {"echo up; exec sleep 600", "killed", ""},
	} {
		w.Create(id)
		st := w.TaskUnder(id, "bash_1", c.script, 0, "another")
		clitest.Until(t, "it is up", func() bool { return w.OK("task", "output", id, "bash_1") == "up\n" })
		w.Append(id, store.Actor{Type: store.ActorUser}, &session.TaskRestartSet{
			Task: "bash_1", Restart: c.policy, Bound: session.CommandDigest(nil, c.script, w.Dir),
		})
		dir := filepath.Join(w.Home, "acts", id, "t1.s1.b1.a1")
		var shim struct {
			PID int `json:"pid"`
		}
		readJSON(w, filepath.Join(dir, "lock"), &shim)
		for _, pid := range []int{shim.PID, st.PID} {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		ended := w.AwaitTask(id, "bash_1", c.status)
		if ended["by"] != "system" || ended["last_output"] != "up" {
			t.Errorf("%s: %v", id, ended)
		}
	}
	o := w.Run("task", "restore")
	for id, again := range map[string]bool{"handler": true, "signal": true, "never": false} {
		l := w.TaskLine(id, "bash_1")
		if strings.Contains(o.Stdout, id+" bash_1 runs again") != again || (l["status"] == "running") != again {
			t.Errorf("%s: %+v\n%v", id, o, l)
		}
		log := w.OK("log", id, "--json")
		if want := map[string]string{"handler": `"exit_code":3`, "signal": `"signal":"SIGTERM"`, "never": `"signal":"SIGTERM"`}[id]; !strings.Contains(log, want) || strings.Contains(log, `"reason":"reboot"`) {
			t.Errorf("%s: its end is not kept as it was: %s", id, log)
		}
	}
	if !strings.Contains(o.Stderr, "never bash_1 stays down: its restart policy is never") || !strings.Contains(o.Stderr, "> up") {
		t.Errorf("%s", o.Stderr)
	}
	if again := w.Run("task", "restore"); !strings.Contains(again.Stderr, "nothing to restore") {
		t.Errorf("%+v", again)
	}
	w.Run("task", "kill", "handler", "--all")
	w.Run("task", "kill", "signal", "--all")
}
