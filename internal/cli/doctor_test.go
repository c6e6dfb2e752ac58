package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checksOf are doctor's checks by name, the worst level of each.
func (w *world) checksOf(code int) (map[string]string, map[string]any) {
	w.t.Helper()
	o := w.run("doctor", "--json")
	if o.code != code {
		w.t.Fatalf("doctor: exit %d, want %d\n%s%s", o.code, code, o.stdout, o.stderr)
	}
	d := lines(w.t, o.stdout)[0]
	levels := map[string]string{}
	for _, c := range d["checks"].([]any) {
		c := c.(map[string]any)
		if name := c["name"].(string); levels[name] == "" || levels[name] == levelOK || c["level"] == levelFail {
			levels[name] = c["level"].(string)
		}
	}
	return levels, d
}

func TestDoctorOfAGoodHome(t *testing.T) {
	w := newWorld(t)
	w.app.Environ = append(w.app.Environ, "ANTHROPIC_API_KEY=test-key-of-nobody")
	levels, _ := w.checksOf(0) // of a home that is not there yet
	if levels["permissions"] != levelOK {
		t.Errorf("no home: %v", levels)
	}
	w.eventful("s1")
	levels, d := w.checksOf(0)
	for _, name := range []string{"version", "permissions", "filesystem", "store", "sessions", "model"} {
		if levels[name] != levelOK {
			t.Errorf("%s is %q in %v", name, levels[name], d["checks"])
		}
	}
	for _, list := range []string{"holders", "tasks", "orphans"} {
		if l, ok := d[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s: %v", list, d[list])
		}
	}
	out := w.ok("doctor")
	if !strings.Contains(out, "ok    store") || strings.Contains(out, "test-key-of-nobody") {
		t.Errorf("text:\n%s", out)
	}
}

// doctor names tasks that live, with the whole command that ends them, and directories that nothing needs.
func TestDoctorNamesTasksAndStrays(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"s1", "s2"} {
		w.create(id)
	}
	w.task("s1", "bash_1", "sleep 1000", 0)
	w.task("s2", "bash_1", "exit 0", 0)
	w.awaitTask("s2", "bash_1", "exited")
	w.ok("close", "s1")
	stray := filepath.Join(w.home, "acts", "gone", "t1.s1.b1.a1")
	if err := os.MkdirAll(stray, 0o700); err != nil {
		t.Fatal(err)
	}
	_, d := w.checksOf(0)
	tasks := d["tasks"].([]any)
	if len(tasks) != 1 {
		t.Fatalf("tasks: %v", tasks)
	}
	task := tasks[0].(map[string]any)
	end := "PERDURE_HOME=" + w.home + " perdure task kill s1 bash_1"
	if task["session_id"] != "s1" || task["end"] != end || task["stale"] != "its session is closed" || task["status"] != "running" {
		t.Errorf("task: %v", task)
	}
	orphans := d["orphans"].([]any)
	if len(orphans) != 1 || orphans[0].(map[string]any)["session_id"] != "gone" || orphans[0].(map[string]any)["end"] != "rm -r "+stray {
		t.Errorf("orphans: %v", orphans)
	}
	out := w.ok("doctor")
	if !strings.Contains(out, end) || !strings.Contains(out, "its session does not exist") {
		t.Errorf("text:\n%s", out)
	}
	w.ok("task", "kill", "s1", "bash_1")
	if _, d := w.checksOf(0); len(d["tasks"].([]any)) != 0 {
		t.Errorf("after the kill: %v", d["tasks"])
	}
}

// Goal: what no session knows and still runs is told with the command that ends it, wholly, and so is what nobody may
// be waiting for any more.
func TestDoctorEndsStrays(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.create("s2")
	w.task("s1", "bash_1", "setsid sleep 1000 & sleep 1000", 0)
	st := w.task("s2", "bash_1", "sleep 1000", 0)
	w.fails(exitUsage, "it is task bash_1", "task", "kill", "--stray", "s1/t1.s1.b1.a1")
	if err := os.Rename(filepath.Join(w.home, "acts", "s1"), filepath.Join(w.home, "acts", "gone")); err != nil {
		t.Fatal(err)
	}
	w.app.Now = func() time.Time { return time.UnixMilli(st.Started).Add(8 * 24 * time.Hour) }
	_, d := w.checksOf(0)
	tasks := d["tasks"].([]any)
	if len(tasks) != 1 || tasks[0].(map[string]any)["session_id"] != "s2" || tasks[0].(map[string]any)["stale"] != "it has run for more than 7 days" {
		t.Errorf("tasks: %v", tasks)
	}
	orphans := d["orphans"].([]any)
	if len(orphans) != 1 || orphans[0].(map[string]any)["end"] != "PERDURE_HOME="+w.home+" perdure task kill --stray gone/t1.s1.b1.a1" {
		t.Fatalf("orphans: %v", orphans)
	}
	pid := int(orphans[0].(map[string]any)["pid"].(float64))
	w.fails(exitMissing, "no command", "task", "kill", "--stray", "gone/t1.s1.b1.a9")
	w.fails(exitUsage, "SESSION/ACT", "task", "kill", "--stray", "gone")
	w.ok("task", "kill", "--stray", "gone/t1.s1.b1.a1")
	if err := syscall.Kill(pid, 0); err == nil && !zombie(pid) {
		t.Errorf("process %d lives", pid)
	}
	if _, d := w.checksOf(0); !strings.HasPrefix(d["orphans"].([]any)[0].(map[string]any)["end"].(string), "rm -r ") {
		t.Errorf("after the kill: %v", d["orphans"])
	}
}

func TestDoctorNamesHolders(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	h := w.open("{}")
	defer w.close(h)
	s, err := h.Record(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	_, d := w.checksOf(0)
	if l := d["holders"].([]any); len(l) != 1 || l[0].(map[string]any)["pid"] != float64(os.Getpid()) || l[0].(map[string]any)["alive"] != "alive" {
		t.Errorf("holders: %v", d["holders"])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// What is broken is told, each on its own, and the exit code says so.
func TestDoctorOfABrokenHome(t *testing.T) {
	w := newWorld(t)
	w.eventful("good")
	w.create("bad")
	w.damage("bad", 1)
	db, err := os.OpenFile(filepath.Join(w.home, "acts-open"), os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	w.dropSnapshots()
	levels, d := w.checksOf(1)
	if levels["session"] != levelFail || levels["permissions"] != levelWarn || levels["store"] != levelOK {
		t.Errorf("%v", d["checks"])
	}
	if out := w.run("doctor").stdout; !strings.Contains(out, "perdure verify bad") || !strings.Contains(out, "chmod -R go-rwx") {
		t.Errorf("text:\n%s", out)
	}
	w.ok("show", "good")

	broken := newWorld(t)
	if err := os.MkdirAll(broken.home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken.home, "perdure.db"), []byte("this is no database, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	if levels, d := broken.checksOf(1); levels["open"] != levelFail {
		t.Errorf("%v", d["checks"])
	}
}

func TestScopeCheck(t *testing.T) {
	for _, c := range []struct {
		cgroup    string
		container bool
		level     string
		words     string
	}{
		{"0::/user.slice/user-1000.slice/session-3.scope\n", false, levelWarn, "session-3.scope"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n", false, levelWarn, "vte-spawn-1.scope"},
		{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r12.scope\n", false, levelOK, "scope of their own"},
		{"0::/system.slice/ci.service\n", false, levelWarn, "ci.service"},
		{"0::/\n", true, levelWarn, "container"},
		{"0::/\n", false, levelOK, "no scope"},
		{"0::/system.slice/docker-abc.scope\n", false, levelWarn, "container"},
		{"0::/kubepods.slice/x\n", false, levelWarn, "container"},
		{"12:pids:/a\n1:name=systemd:/user.slice/session-9.scope\n0::/\n", false, levelWarn, "session-9.scope"},
		{"", false, levelOK, "no scope"},
		{"garbage", false, levelOK, "no scope"},
	} {
		if got := scopeCheck(c.cgroup, c.container); got.Level != c.level || !strings.Contains(got.Text, c.words) {
			t.Errorf("%q: %+v, want %s with %q", c.cgroup, got, c.level, c.words)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a/b-c_1.x": "a/b-c_1.x", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}

// A session without events, which no perdure makes, is named with what removes it, and can be removed; the others are
// listed all the same.
func TestSessionWithoutEvents(t *testing.T) {
	w := newWorld(t)
	w.createEmpty("half")
	if out := w.ok("doctor"); !strings.Contains(out, "half has no events") || !strings.Contains(out, "perdure delete half") {
		t.Errorf("text:\n%s", out)
	}
	if out := w.ok("list"); !strings.Contains(out, "empty") {
		t.Errorf("list:\n%s", out)
	}
	w.fails(1, "perdure delete", "show", "half")
	w.fails(1, "left out: session half: session has no events", "usage")
	w.ok("task", "list")
	w.ok("delete", "half", "--yes")
}
