package tasks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: how a task runs is as its flags say, is shown, and is the same for another attempt.
func TestTaskSettings(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--stdin", "--lifetime", "session", "--files", "64", "--cpu", "90s", "--memory", "2GiB", "--wall", "10m", "--",
		"sh", "-c", "ulimit -n; cat; exec sleep 60")
	want := map[string]any{"cpu_seconds": 90.0, "memory_bytes": float64(2 << 30), "open_files": 64.0, "wall_ms": 600_000.0}
	for _, attempt := range []float64{1, 2} {
		l := w.AwaitTask("x", "bash_1", "running")
		limits := l["limits"].(map[string]any)
		for k, v := range want {
			if limits[k] != v {
				t.Errorf("%s is %v, want %v", k, limits[k], v)
			}
		}
		if l["memory_by"] != "rlimit" && l["memory_by"] != "cgroup" {
			t.Errorf("memory by %v", l["memory_by"])
		}
		if l["stdin"] != true || l["lifetime"] != "session" || l["attempt"] != attempt {
			t.Errorf("%v", l)
		}
		clitest.Until(t, "the limit binds", func() bool { return w.OK("task", "output", "x", "bash_1") == "64\n" })
		if attempt == 1 {
			w.OK("task", "restart", "x", "bash_1")
		}
	}
	if out := w.OK("show", "x"); !strings.Contains(out, "[until the end of its session, stdin, cpu 1m30s, memory 2.0 GiB, files 64, wall 10m0s]") {
		t.Error(out)
	}
	w.OK("task", "run", "--session", "x", "--tty", "--size", "33x7", "--", "sh", "-c", "stty size; exec sleep 60")
	if l := w.AwaitTask("x", "bash_2", "running"); l["lifetime"] != "detached" || l["tty"].(map[string]any)["cols"] != 33.0 {
		t.Errorf("%v", l)
	}
	clitest.Until(t, "the terminal has its size", func() bool { return w.OK("task", "output", "x", "bash_2") == "7 33\r\n" })
	w.OK("close", "x")
	if l := w.AwaitTask("x", "bash_1", "killed"); l["by"] != "lifetime" {
		t.Errorf("after the close: %v", l)
	}
	w.Fails(app.ExitFailed, "session is closed", "task", "run", "--session", "x", "--lifetime", "session", "--", "true")
	w.AwaitTask("x", "bash_2", "running")
	w.OK("task", "kill", "x", "--all")
	w.OK("verify", "x")
}

// Goal: the limit that ended a task is named, in its state and in words.
func TestTaskLimitIsNamed(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--wall", "100ms", "--", "sleep", "60")
	if l := w.AwaitTask("x", "bash_1", "killed"); l["by"] != "limit (wall)" {
		t.Errorf("%v", l)
	}
	if out := w.OK("task", "list", "x"); !strings.Contains(out, "killed SIGTERM by limit (wall)") {
		t.Error(out)
	}
}

// Goal: what makes no sense is refused before anything starts.
func TestTaskSettingsRefused(t *testing.T) {
	w := clitest.New(t)
	for words, args := range map[string][]string{
		"COLUMNSxROWS": {"--tty", "--size", "80"}, "goes with --tty": {"--size", "80x24"}, "use detached": {"--lifetime", "ever"},
		"no span": {"--cpu", "lots"}, "no size": {"--memory", "1 acre"}, "no number": {"--files", "-1"}, "write 60s": {"--wall", "10"},
	} {
		w.Fails(app.ExitUsage, words, append(append([]string{"task", "run"}, args...), "--", "true")...)
	}
	w.Fails(app.ExitFailed, "no turn is open", "task", "run", "--lifetime", "turn", "--", "true")
	if n := len(clitest.Lines(t, w.OK("task", "list", "--json"))); n != 0 {
		t.Errorf("%d tasks", n)
	}
}

// Goal: the user's file gives limits to those who name none, a project's only tightens them, and a flag is above both.
func TestTaskLimitsOfFiles(t *testing.T) {
	w := clitest.New(t)
	for path, text := range map[string]string{
		filepath.Join(w.Dir, ".config", "perdure", "config.toml"): "[limits]\nfiles = 100\ncpu = \"60s\"\n",
		filepath.Join(w.Dir, ".perdure", "config.toml"):           "[limits]\nfiles = 50\ncpu = \"2h\"\nwall = \"1h\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.OK("task", "run", "--name", "x", "--", "sleep", "60")
	w.OK("task", "run", "--session", "x", "--files", "80", "--", "sleep", "60")
	for i, files := range []float64{50, 80} {
		got := clitest.Lines(t, w.OK("task", "list", "x", "--json"))[i]["limits"].(map[string]any)
		if got["open_files"] != files || got["cpu_seconds"] != 60.0 || got["wall_ms"] != 3_600_000.0 {
			t.Errorf("%v", got)
		}
	}
	w.OK("task", "kill", "x", "--all")
}

// Goal: a session that is deleted takes its tasks along, whatever their lifetime, and names them before.
func TestDeleteEndsTasks(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "x", "--lifetime", "session", "--", "sleep", "60")
	pids := []int{int(w.TaskLine("x", "bash_1")["pid"].(float64))}
	w.OK("task", "run", "--session", "x", "--", "sleep", "60")
	pids = append(pids, int(w.TaskLine("x", "bash_2")["pid"].(float64)))
	w.App.Asks, w.App.Stdin = true, strings.NewReader("\n")
	o := w.Fails(app.ExitFailed, "nothing was deleted", "delete", "x")
	for i, pid := range pids {
		if !living(pid) || !strings.Contains(o.Stderr, fmt.Sprintf("bash_%d (pid %d)", i+1, pid)) {
			t.Errorf("task %d lives: %t; the question: %s", i+1, living(pid), o.Stderr)
		}
	}
	w.OK("delete", "x", "--yes")
	for _, pid := range pids {
		if living(pid) {
			t.Errorf("pid %d outlives its session", pid)
		}
	}
}

func living(pid int) bool {
	_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	return err == nil && !clitest.Zombie(pid)
}
