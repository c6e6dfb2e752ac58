package attack_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// begin starts the binary and returns once a file that its command makes is there.
func (w *world) begin(mark string, args ...string) *exec.Cmd {
	w.t.Helper()
	cmd := w.command(args...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.until(mark, func() bool { return exists(filepath.Join(w.work, mark)) })
	return cmd
}

// A holder that is stopped still holds: who comes second is told its pid. Killed, it is replaced at once, and its
// command ran once.
func TestStoppedHolder(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(bash("echo x >> count; until test -e on; do sleep 0.02; done; echo finished")))
	cmd := w.begin("count", run1("s", m, bypass)...)
	pid := cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	o := w.want(5, "-p", "-r", "s", "second")
	if !strings.Contains(o.stderr, fmt.Sprint(pid)) {
		t.Errorf("the holder is not named: %s", o)
	}
	if d := time.Since(before); d > 20*time.Second {
		t.Errorf("it took %s to be told", d)
	}
	for _, args := range [][]string{{"show", "s"}, {"log", "s"}, {"list"}, {"fork", "s", "--id", "f"}, {"verify", "s"}, {"approvals", "list"}} {
		w.want(0, args...)
	}
	if o := w.want(5, "delete", "s", "--yes"); !strings.Contains(o.stderr, "runs") && !strings.Contains(o.stderr, "held") {
		t.Errorf("delete of a held session: %s", o)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.work, "on"), "")
	w.want(0, "-p", "-r", "s", bypass)
	if err := cmd.Wait(); err == nil {
		t.Error("the killed holder ended well")
	}
	if got := w.results("s"); len(got) != 1 || !strings.Contains(got[0], "finished") {
		t.Errorf("the command's result: %q", got)
	}
	if b, _ := os.ReadFile(filepath.Join(w.work, "count")); string(b) != "x\n" {
		t.Errorf("the command ran %q times", b)
	}
	w.verify("s")
}

// Many processes that want one session at once: one after the other gets it or is told, and the log is whole.
func TestManyWriters(t *testing.T) {
	w := newWorld(t)
	m := w.model()
	w.want(0, run1("s", m)...)
	var wg sync.WaitGroup
	outcomes := make([]outcome, 8)
	for i := range outcomes {
		wg.Go(func() {
			args := []string{"rename", "s", fmt.Sprint("name ", i)}
			switch i % 4 {
			case 1:
				args = []string{"fork", "s"}
			case 2:
				args = []string{"-p", "--session-id", "same", m[0], m[1], "hello"}
			case 3:
				args = []string{"pause", "s"}
			}
			outcomes[i] = w.perdure(args...)
		})
	}
	wg.Wait()
	same := 0
	for _, o := range outcomes {
		switch {
		case o.args[0] == "-p" && o.code == 0:
			same++
		case o.args[0] == "-p" && (o.code == 2 || o.code == 5):
		case o.code != 0:
			t.Error(o)
		}
	}
	if same != 1 {
		t.Errorf("%d processes opened the same new session", same)
	}
	w.verify("s")
	w.verify("same")
}

// Processes that open and close one home all the time do not see each other's comings and goings as a locked database.
func TestComingsAndGoings(t *testing.T) {
	w := newWorld(t)
	w.want(0, run1("s", w.model())...)
	rounds := 8
	if os.Getenv("PERDURE_SOAK") == "1" {
		rounds = 400
	}
	for range rounds {
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if o := w.perdure("rename", "s", "x"); o.code != 0 {
					t.Error(o)
				}
			})
		}
		wg.Wait()
	}
	w.verify("s")
}

// The clock may be set back a day, or a decade: order comes from the log, not from the time.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	m := w.model(calls(background("sleep 300"), bash("echo one")), calls(bash("echo two")), calls(bash("echo three")))
	w.want(6, append(run1("s", m, bypass), "--max-turns", "1")...)
	for _, back := range []time.Duration{24 * time.Hour, 10 * 365 * 24 * time.Hour, -10 * 365 * 24 * time.Hour} {
		h := w.open(homes.Config{ShimPath: []string{binary}, Now: func() time.Time { return time.Now().Add(-back) }})
		n := 1
		opt := homes.RunOptions{}
		opt.Mode, opt.MaxSteps = "bypassPermissions", &n
		if back < 0 {
			n = 10
		}
		r, err := h.Run(t.Context(), "s", opt)
		if err != nil {
			t.Fatalf("clock %s back: %v", back, err)
		}
		if r.StopReason != session.TurnMaxSteps && r.StopReason != session.TurnEndTurn {
			t.Errorf("clock %s back: %+v", back, r)
		}
	}
	got := strings.Join(w.results("s"), "|")
	for _, word := range []string{"one", "two", "three"} {
		if strings.Count(got, word) != 1 {
			t.Errorf("%s did not run exactly once: %q", word, got)
		}
	}
	if v := w.show("s"); v.Activity != "idle" || v.Tasks[0].Status != "running" {
		t.Errorf("%+v", v)
	}
	w.want(0, "task", "kill", "s", "bash_1")
	w.verify("s")
}
