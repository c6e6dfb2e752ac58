package care_test

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

func TestDoctorOfAGoodHome(t *testing.T) {
	w := clitest.New(t)
	w.App.Environ = append(w.App.Environ, "ANTHROPIC_API_KEY=test-key-of-nobody")
	levels, _ := w.ChecksOf(0) // of a home that is not there yet
	if levels["permissions"] != "ok" {
		t.Errorf("no home: %v", levels)
	}
	w.Eventful("s1")
	levels, d := w.ChecksOf(0)
	for _, name := range []string{"version", "permissions", "filesystem", "store", "sessions", "model"} {
		if levels[name] != "ok" {
			t.Errorf("%s is %q in %v", name, levels[name], d["checks"])
		}
	}
	for _, list := range []string{"holders", "tasks", "orphans"} {
		if l, ok := d[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s: %v", list, d[list])
		}
	}
	out := w.OK("doctor")
	if !strings.Contains(out, "ok    store") || strings.Contains(out, "test-key-of-nobody") {
		t.Errorf("text:\n%s", out)
	}
}

// doctor names tasks that live, with the whole command that ends them, and directories that nothing needs.
func TestDoctorNamesTasksAndStrays(t *testing.T) {
	w := clitest.New(t)
	for _, id := range []string{"s1", "s2"} {
		w.Create(id)
	}
	w.Task("s1", "bash_1", "sleep 1000", 0)
	w.Task("s2", "bash_1", "exit 0", 0)
	w.AwaitTask("s2", "bash_1", "exited")
	w.OK("close", "s1")
	stray := filepath.Join(w.Home, "acts", "gone", "t1.s1.b1.a1")
	if err := os.MkdirAll(stray, 0o700); err != nil {
		t.Fatal(err)
	}
	_, d := w.ChecksOf(0)
	tasks := d["tasks"].([]any)
	if len(tasks) != 1 {
		t.Fatalf("tasks: %v", tasks)
	}
	task := tasks[0].(map[string]any)
	end := "PERDURE_HOME=" + w.Home + " perdure task kill s1 bash_1"
	if task["session_id"] != "s1" || task["end"] != end || task["stale"] != "its session is closed" || task["status"] != "running" {
		t.Errorf("task: %v", task)
	}
	orphans := d["orphans"].([]any)
	if len(orphans) != 1 || orphans[0].(map[string]any)["session_id"] != "gone" || orphans[0].(map[string]any)["end"] != "rm -r "+stray {
		t.Errorf("orphans: %v", orphans)
	}
	out := w.OK("doctor")
	if !strings.Contains(out, end) || !strings.Contains(out, "its session does not exist") {
		t.Errorf("text:\n%s", out)
	}
	w.OK("task", "kill", "s1", "bash_1")
	if _, d := w.ChecksOf(0); len(d["tasks"].([]any)) != 0 {
		t.Errorf("after the kill: %v", d["tasks"])
	}
}

// Goal: what no session knows and still runs is told with the command that ends it, wholly, and so is what nobody may
// be waiting for any more.
func TestDoctorEndsStrays(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Create("s2")
	w.Task("s1", "bash_1", "setsid sleep 1000 & sleep 1000", 0)
	st := w.Task("s2", "bash_1", "sleep 1000", 0)
	w.Fails(app.ExitUsage, "it is task bash_1", "task", "kill", "--stray", "s1/t1.s1.b1.a1")
	if err := os.Rename(filepath.Join(w.Home, "acts", "s1"), filepath.Join(w.Home, "acts", "gone")); err != nil {
		t.Fatal(err)
	}
	w.App.Now = func() time.Time { return time.UnixMilli(st.Started).Add(8 * 24 * time.Hour) }
	_, d := w.ChecksOf(0)
	tasks := d["tasks"].([]any)
	if len(tasks) != 1 || tasks[0].(map[string]any)["session_id"] != "s2" || tasks[0].(map[string]any)["stale"] != "it has run for more than 7 days" {
		t.Errorf("tasks: %v", tasks)
	}
	orphans := d["orphans"].([]any)
	if len(orphans) != 1 || orphans[0].(map[string]any)["end"] != "PERDURE_HOME="+w.Home+" perdure task kill --stray gone/t1.s1.b1.a1" {
		t.Fatalf("orphans: %v", orphans)
	}
	pid := int(orphans[0].(map[string]any)["pid"].(float64))
	w.Fails(app.ExitMissing, "no command", "task", "kill", "--stray", "gone/t1.s1.b1.a9")
	w.Fails(app.ExitUsage, "SESSION/ACT", "task", "kill", "--stray", "gone")
	w.OK("task", "kill", "--stray", "gone/t1.s1.b1.a1")
	if err := syscall.Kill(pid, 0); err == nil && !clitest.Zombie(pid) {
		t.Errorf("process %d lives", pid)
	}
	if _, d := w.ChecksOf(0); !strings.HasPrefix(d["orphans"].([]any)[0].(map[string]any)["end"].(string), "rm -r ") {
		t.Errorf("after the kill: %v", d["orphans"])
	}
}

func TestDoctorNamesHolders(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	h := w.Open("{}")
	defer w.Close(h)
	s, err := h.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	_, d := w.ChecksOf(0)
	if l := d["holders"].([]any); len(l) != 1 || l[0].(map[string]any)["pid"] != float64(os.Getpid()) || l[0].(map[string]any)["alive"] != "alive" {
		t.Errorf("holders: %v", d["holders"])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// What is broken is told, each on its own, and the exit code says so.
func TestDoctorOfABrokenHome(t *testing.T) {
	w := clitest.New(t)
	w.Eventful("good")
	w.Create("bad")
	w.Damage("bad", 1)
	db, err := os.OpenFile(filepath.Join(w.Home, "acts-open"), os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.DropSnapshots()
	levels, d := w.ChecksOf(1)
	if levels["session"] != "fail" || levels["permissions"] != "warn" || levels["store"] != "ok" {
		t.Errorf("%v", d["checks"])
	}
	if out := w.Run("doctor").Stdout; !strings.Contains(out, "perdure verify bad") || !strings.Contains(out, "chmod -R go-rwx") {
		t.Errorf("text:\n%s", out)
	}
	w.OK("show", "good")

	broken := clitest.New(t)
	if err := os.MkdirAll(broken.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken.Home, "perdure.db"), []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	if levels, d := broken.ChecksOf(1); levels["open"] != "fail" {
		t.Errorf("%v", d["checks"])
	}
}

// A session without events, which no perdure makes, is named with what removes it, and can be removed; the others are
// listed all the same.
func TestSessionWithoutEvents(t *testing.T) {
	w := clitest.New(t)
	w.CreateEmpty("half")
	if out := w.OK("doctor"); !strings.Contains(out, "half has no events") || !strings.Contains(out, "perdure delete half") {
		t.Errorf("text:\n%s", out)
	}
	if out := w.OK("list"); !strings.Contains(out, "empty") {
		t.Errorf("list:\n%s", out)
	}
	w.Fails(1, "perdure delete", "show", "half")
	w.Fails(1, "left out: session half: session has no events", "usage")
	w.OK("task", "list")
	w.OK("delete", "half", "--yes")
}
