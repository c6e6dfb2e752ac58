//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// look is Look, or a failed test.
func (b *bench) look(act string) command.State {
	b.t.Helper()
	st, err := b.Look(context.Background(), testSession, act)
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// touch makes a file that a command waits for.
func (b *bench) touch(name string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.cwd, name), nil, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

const untilGo = "until [ -e go ]; do sleep 0.01; done; "

// Whoever looks adopts: the command goes on under the same pid, its output goes on at the same byte, and its end is
// what it was.
func TestAdopt(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo before; "+untilGo+"echo after; cd /; exit 42"))
	eventually(t, "it prints", func() bool { return b.output("a") != "" })
	pid := b.state("a").PID
	for range 3 {
		b.killShim("a")
		if st := b.state("a"); st.Status != command.Running || st.Reason != command.ReasonOrphaned {
			t.Errorf("before: %s", code(st))
		}
		if st := b.look("a"); st.Status != command.Running || st.Reason != "" || st.PID != pid {
			t.Errorf("adopted: %s, pid %d of %d", code(st), st.PID, pid)
		}
		if err := b.Adopt(context.Background(), testSession, "a"); err != nil || len(b.processesOf("a", shimArg)) != 1 {
			t.Errorf("adopt again: %v, shims %v", err, b.processesOf("a", shimArg))
		}
	}
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 42" || st.PID != pid || b.output("a") != "before\nafter\n" || st.Output != 13 {
		t.Errorf("%s, pid %d, output %q of %d\n%s", code(st), st.PID, b.output("a"), st.Output, b.log("a"))
	}
	b.left("a")
	if err := b.Adopt(context.Background(), testSession, "a"); err != nil || b.log("a") != "" {
		t.Errorf("adopt the dead: %v, %s", err, b.log("a"))
	}
	if err := b.Remove(testSession, "a"); err != nil {
		t.Error(err)
	}
}

// Many that adopt at once start one new shim, and the process that started a command needs nobody to ask.
func TestAdoptRace(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo up; "+untilGo+"exit 3"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	b.killShim("a")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if err := b.Adopt(context.Background(), testSession, "a"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	eventually(t, "one shim stays", func() bool { return len(b.processesOf("a", shimArg)) == 1 })
	if st := b.state("a"); st.Status != command.Running || st.Reason != "" {
		t.Errorf("%s", code(st))
	}

	b.noRescue = false
	b.start(b.script("b", "echo up; "+untilGo+"exit 4"))
	b.killShim("b")
	eventually(t, "its starter replaces the shim", func() bool {
		return b.state("b").Reason == "" && len(b.processesOf("b", shimArg)) == 1
	})
	b.killShim("b")
	eventually(t, "and the replacement", func() bool {
		return b.state("b").Reason == "" && len(b.processesOf("b", shimArg)) == 1
	})
	b.touch("go")
	for act, want := range map[string]string{"a": "exited 3", "b": "exited 4"} {
		if st := b.wait(act); code(st) != want {
			t.Errorf("%s: %s", act, code(st))
		}
	}
}

// Commands that end while no shim is there: the kernel is asked, by whoever held on or came soon enough.
func TestEndUnseen(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	for act, c := range map[string]struct{ script, want string }{
		"code":   {"echo up; " + untilGo + "exit 42", "exited 42"},
		"zero":   {"echo up; " + untilGo + "exit 0", "exited 0"},
		"signal": {"echo up; " + untilGo + "kill -SEGV $$", "killed SIGSEGV by unknown"},
	} {
		b.start(b.script(act, c.script))
		eventually(t, "it is up", func() bool { return b.output(act) != "" })
		pid := b.state(act)
		k := &keeper{}
		k.hold(actDir(filepath.Join(b.Dir, testSession, act)))
		b.killShim(act)
		b.touch("go")
		eventually(t, "it ends", func() bool { return !alive(pid.PID, pid.StartTicks) })
		if err := b.adopt(context.Background(), actDir(filepath.Join(b.Dir, testSession, act)), k); err != nil {
			t.Error(err)
		}
		k.close()
		if st := b.look(act); code(st) != c.want || st.PID != pid.PID || b.log(act) != "" {
			t.Errorf("%s: %s\n%s", act, code(st), b.log(act))
		}
		os.Remove(filepath.Join(b.cwd, "go"))
	}
}

// Without any trace of how the command ended it is lost, for good, and by whom its death was wanted is told.
func TestEndUnknown(t *testing.T) {
	b := newBench(t)
	b.run("a", "echo out")
	b.left("a")
	d := actDir(filepath.Join(b.Dir, testSession, "a"))
	for _, name := range []string{exitName, endName} {
		if err := os.Remove(d.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if st := b.look("a"); code(st) != "lost shim_died" || st.Output != 4 || st.ExitCode != nil {
			t.Errorf("%s, %d bytes", code(st), st.Output)
		}
	}
	if st, err := b.Settle(context.Background(), testSession, "a"); err != nil || code(st) != "lost shim_died" {
		t.Errorf("%s, %v", code(st), err)
	}
}

// The timeout goes on under the new shim, from where it was.
func TestAdoptTimeout(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	spec := b.script("a", "echo up; sleep 60")
	spec.TimeoutMS = 600
	begin := time.Now()
	b.start(spec)
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	b.killShim("a")
	st := b.wait("a")
	if took := time.Since(begin); code(st) != "killed SIGTERM by timeout" || took < 500*time.Millisecond || took > 10*time.Second {
		t.Errorf("%s after %v", code(st), took)
	}
}

// What a command left behind stays known and counted when the shim dies, output included, and can be killed.
func TestAdoptStragglers(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	const hide = "(setsid bash -c 'echo far; echo $$ > pid; until [ -e go ]; do sleep 0.01; done; echo late' &) ; until [ -e pid ]; do sleep 0.01; done; "
	b.start(b.script("a", hide+"echo done; exit 4"))
	if st := b.wait("a"); code(st) != "exited 4" || st.Stragglers < 1 {
		t.Errorf("%s, %d stragglers", code(st), st.Stragglers)
	}
	b.killShim("a")
	if st := b.look("a"); code(st) != "exited 4" || st.Stragglers < 1 || len(b.processesOf("a", shimArg)) != 1 {
		t.Errorf("adopted: %s, %d stragglers", code(st), st.Stragglers)
	}
	if err := b.Remove(testSession, "a"); !errors.Is(err, ErrRunning) {
		t.Errorf("remove: %v", err)
	}
	b.touch("go")
	b.left("a")
	if st := b.state("a"); code(st) != "exited 4" || st.Stragglers != 0 || b.output("a") != "far\ndone\nlate\n" || st.Output != 14 {
		t.Errorf("%s, %d stragglers, output %q", code(st), st.Stragglers, b.output("a"))
	}
	os.Remove(filepath.Join(b.cwd, "go"))
	os.Remove(filepath.Join(b.cwd, "pid"))

	b.start(b.script("b", hide+"exit 5"))
	b.wait("b")
	b.killShim("b")
	if err := b.Kill(context.Background(), testSession, "b", "user"); err != nil {
		t.Fatal(err)
	}
	if st := b.state("b"); code(st) != "exited 5" || st.Stragglers != 0 || strings.Contains(b.output("b"), "late") {
		t.Errorf("%s, %d stragglers, %q", code(st), st.Stragglers, b.output("b"))
	}
	text, _ := os.ReadFile(filepath.Join(b.cwd, "pid"))
	var pid int
	if fmt.Sscan(string(text), &pid); pid == 0 || len(b.living([]int{pid})) > 0 {
		t.Errorf("process %d lives", pid)
	}
}

// A shim that dies between a kill's intent and its work leaves the work to its replacement, and the killer's name.
func TestAdoptKill(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "trap 'echo saved; exit 3' TERM; echo up; sleep 60 & wait"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	d := actDir(filepath.Join(b.Dir, testSession, "a"))
	if err := d.recordIntent("user", 1, b.grace()); err != nil {
		t.Fatal(err)
	}
	b.killShim("a")
	b.look("a")
	if st := b.wait("a"); code(st) != "killed SIGTERM by user" || b.output("a") != "up\nsaved\n" {
		t.Errorf("%s, output %q", code(st), b.output("a"))
	}
	b.left("a")
	if st := b.look("a"); st.Stragglers != 0 {
		t.Errorf("%d stragglers", st.Stragglers)
	}
}

// A replacement shim dies at every line of its own protocol, and another one takes over from it. A command may end before
// that; nobody reaps it meanwhile.
func TestDeathOfAdopters(t *testing.T) {
	inheritOrphans(t)
	for _, step := range []string{"begun", "adopt-locked", "adopted", "adopt-reported", "ended", "drained", "tmp-exit.json", "recorded", "leaving"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.noRescue = true
			b.start(b.script("a", "echo up; "+untilGo+"echo end; exit 42"))
			eventually(t, "it is up", func() bool { return b.output("a") != "" })
			b.killShim("a")
			doomed := *b.Runner
			doomed.adoptEnv = []string{faultKey + "=kill:" + step}
			_ = doomed.Adopt(context.Background(), testSession, "a") // some deaths come later
			b.touch("go")
			if st := b.wait("a"); code(st) != "exited 42" || b.output("a") != "up\nend\n" && step != "begun" && step != "adopt-locked" && step != "adopted" && step != "adopt-reported" {
				t.Errorf("%s, output %q\n%s", code(st), b.output("a"), b.log("a"))
			}
		})
	}
}

// A stopped replacement is no reason to start another; it goes on when it is woken.
func TestAdopterStopped(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo up; "+untilGo+"exit 6"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	b.killShim("a")
	slow := *b.Runner
	slow.adoptEnv = []string{faultKey + "=stop:adopted"}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if err := slow.Adopt(ctx, testSession, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("adopt: %v", err)
	}
	if st := b.look("a"); st.Status != command.Running {
		t.Errorf("%s", code(st))
	}
	shims := b.processesOf("a", shimArg)
	if len(shims) != 1 {
		t.Fatalf("shims: %v", shims)
	}
	syscall.Kill(shims[0].PID, syscall.SIGCONT)
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 6" {
		t.Errorf("%s", code(st))
	}
}

// The control of all this: when nobody holds on and nobody looks until the command has ended, what it printed since is
// gone with the FIFO, and the tests above would notice. A code is known or lost, never another one.
func TestNobodyLooks(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo up; "+untilGo+"echo end; exit 42"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	run := b.state("a")
	b.killShim("a")
	eventually(t, "whoever started it lets go, too", func() bool {
		held, err := filepath.Glob("/proc/self/fd/*")
		return err == nil && !slices.ContainsFunc(held, func(fd string) bool {
			to, _ := os.Readlink(fd)
			return to == filepath.Join(b.Dir, testSession, "a", fifoName)
		})
	})
	b.touch("go")
	eventually(t, "it ends", func() bool { return !alive(run.PID, run.StartTicks) })
	if st := b.look("a"); code(st) != "exited 42" && code(st) != "lost shim_died" || b.output("a") != "up\n" || st.Output != 3 {
		t.Errorf("%s, output %q", code(st), b.output("a"))
	}
}
