//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// faulty returns a bench whose shims and stages meet the fault ("kill:step", "stop:step").
func faulty(t testing.TB, fault string) *bench {
	b := newBench(t)
	b.shimEnv = []string{faultKey + "=" + fault}
	return b
}

// count says how often the counting script ran.
func (b *bench) count() int {
	text, err := os.ReadFile(filepath.Join(b.cwd, "ran"))
	if err != nil && !missing(err) {
		b.t.Fatal(err)
	}
	return strings.Count(string(text), "x")
}

// processesOf returns the shims and stages of one act, which carry its directory in their arguments.
func (b *bench) processesOf(act, role string) []process {
	all, err := processes()
	if err != nil {
		b.t.Fatal(err)
	}
	var found []process
	for _, p := range all {
		args := procFile(p.PID, "cmdline")
		if strings.Contains(args, role) && strings.Contains(args, b.Dir+"/"+testSession+"/"+act+"\x00") && !p.dead() {
			found = append(found, p)
		}
	}
	// A stand-in that was just born still looks like its shim.
	return slices.DeleteFunc(found, func(p process) bool {
		return slices.ContainsFunc(found, func(of process) bool { return of.PID == p.PPID })
	})
}

// left waits until no shim holds the act.
func (b *bench) left(act string) {
	b.t.Helper()
	eventually(b.t, "the shim leaves", func() bool {
		held, err := actDir(filepath.Join(b.Dir, testSession, act)).held()
		return err == nil && !held
	})
}

const counting = "echo x >> ran; echo output; exit 42"

// The shim, or the exec stage, dies at every line of its protocol. Whatever the directory then says is true: an absent
// command never ran, an exited one ran once and has its code and its output, and nothing runs twice.
func TestDeathAtEveryStep(t *testing.T) {
	// What each step has to come to; for lost the command may have run or not.
	table := map[string]command.Status{
		"begun":         command.Absent,
		"locked":        command.Absent,
		"claimed":       command.Absent,
		"fifo":          command.Absent,
		"staged":        command.Absent,
		"enclosed":      command.Absent,
		"tmp-run.json":  command.Absent,
		"run-recorded":  command.Absent,
		"gone":          command.Exited,
		"published":     command.Exited,
		"ended":         command.Exited,
		"drained":       command.Exited,
		"tmp-exit.json": command.Exited,
		"recorded":      command.Exited,
		"leaving":       command.Exited,
		"stage-begun":   command.Killed, // the stage is the command
		"stage-waits":   command.Killed,
		"stage-goes":    command.Killed,
	}
	for step, want := range table {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := faulty(t, "kill:"+step)
			ctx := context.Background()
			err := b.Start(ctx, b.script("a", counting))
			if (want == command.Absent) != errors.Is(err, ErrNotStarted) {
				t.Errorf("start: %v", err)
			}
			st, err := b.Settle(ctx, testSession, "a")
			if err != nil {
				t.Fatal(err)
			}
			if st.Status == command.Running {
				st = b.wait("a")
			}
			if st.Status != want {
				t.Errorf("settled as %s, want %s\n%s", code(st), want, b.log("a"))
			}
			// Whatever was left behind is gone before the count is final.
			eventually(t, "shim and stage end", func() bool {
				return len(b.processesOf("a", stageArg))+len(b.processesOf("a", shimArg)) == 0
			})
			ran := b.count()
			switch {
			case ran > 1:
				t.Errorf("ran %d times", ran)
			case st.Status == command.Absent && ran != 0:
				t.Error("ran but absent")
			case st.Status == command.Exited && (ran != 1 || code(st) != "exited 42" || b.output("a") != "output\n"):
				t.Errorf("%s, ran %d times, output %q", code(st), ran, b.output("a"))
			}
			if err := b.Start(ctx, b.script("a", counting)); !errors.Is(err, ErrClaimed) {
				t.Errorf("started again: %v", err)
			}
		})
	}
}

// A shim stopped before its claim loses against Settle and exits without running anything; stopped after it, the act
// counts as running, and the shim finishes its work when it wakes.
func TestStoppedShim(t *testing.T) {
	for step, want := range map[string]command.Status{
		"begun":        command.Absent,
		"locked":       command.Absent,
		"claimed":      command.Running,
		"fifo":         command.Running,
		"staged":       command.Running,
		"enclosed":     command.Running,
		"tmp-run.json": command.Running,
		"run-recorded": command.Running,
		"gone":         command.Running,
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := faulty(t, "stop:"+step)
			ctx := context.Background()
			started := make(chan error, 1)
			go func() { started <- b.Start(ctx, b.script("a", counting)) }()
			var shim process
			eventually(t, "the shim stops", func() bool {
				for _, p := range b.processesOf("a", shimArg) {
					shim = p
				}
				return shim.State == 'T'
			})
			st, err := b.Settle(ctx, testSession, "a")
			if err != nil || st.Status != want {
				t.Fatalf("settled as %s, %v; want %s", code(st), err, want)
			}
			if err := syscall.Kill(shim.PID, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			err = <-started
			if want == command.Running {
				if err != nil {
					t.Errorf("start: %v", err)
				}
				if st := b.wait("a"); code(st) != "exited 42" || b.count() != 1 {
					t.Errorf("%s, ran %d times", code(st), b.count())
				}
				return
			}
			if !errors.Is(err, ErrClaimed) {
				t.Errorf("late start: %v", err)
			}
			eventually(t, "the late shim exits", func() bool { return len(b.processesOf("a", shimArg)) == 0 })
			if st := b.state("a"); st.Status != command.Absent || b.count() != 0 {
				t.Errorf("%s, ran %d times", code(st), b.count())
			}
		})
	}
}

// A cancelled Start leaves the outcome open, and Settle finds it.
func TestStartCancelled(t *testing.T) {
	b := faulty(t, "stop:claimed")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := b.Start(ctx, b.script("a", counting))
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNotStarted) {
		t.Errorf("start: %v", err)
	}
	for _, p := range b.processesOf("a", shimArg) {
		syscall.Kill(p.PID, syscall.SIGCONT)
	}
	if st := b.wait("a"); code(st) != "exited 42" || b.count() != 1 {
		t.Errorf("%s, ran %d times", code(st), b.count())
	}
}

// Nothing that survives a reboot is taken for more than it is.
func TestReboot(t *testing.T) {
	b := newBench(t)
	b.BootID = func() (string, error) { return "boot-1", nil }
	b.noRescue = true
	ctx := context.Background()
	b.run("ended", "exit 3")
	if err := b.Prepare(ctx, b.script("prepared", counting)); err != nil {
		t.Fatal(err)
	}
	b.start(b.script("void", "true"))
	b.wait("void")
	b.start(b.script("running", "sleep 60"))
	for _, p := range b.processesOf("running", shimArg) {
		syscall.Kill(p.PID, syscall.SIGKILL)
	}
	eventually(t, "shim dies", func() bool { return b.state("running").Reason == command.ReasonOrphaned })
	if err := b.Prepare(ctx, b.script("torn", counting)); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(b.Dir, testSession, "torn", specName), nil, 0o600)

	next := *b.Runner
	next.BootID = func() (string, error) { return "boot-2", nil }
	for act, want := range map[string]string{
		"ended": "exited 3", "prepared": "lost reboot", "running": "lost reboot", "torn": "lost damaged", "nodir": "lost dir_missing",
	} {
		for range 2 { // settling twice says the same
			st, err := next.Settle(ctx, testSession, act)
			if err != nil || code(st) != want {
				t.Errorf("%s: %s, %v; want %s", act, code(st), err, want)
			}
		}
		if err := next.Start(ctx, b.script(act, counting)); !errors.Is(err, ErrClaimed) {
			t.Errorf("%s started after the reboot: %v", act, err)
		}
	}
	if b.count() != 0 {
		t.Error("something ran")
	}
}

// As long as nobody has claimed an act, Prepare may change it, and the newest spec runs; Start changes nothing.
func TestPrepareAgain(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	for _, text := range []string{"echo one", "echo one", "echo two"} {
		if err := b.Prepare(ctx, b.script("a", text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Start(ctx, b.script("a", "echo three")); !errors.Is(err, ErrClaimed) {
		t.Errorf("start of another script: %v", err)
	}
	b.start(b.script("a", "echo two"))
	if b.wait("a"); b.output("a") != "two\n" {
		t.Errorf("output %q", b.output("a"))
	}
	if err := b.Prepare(ctx, b.script("a", "echo two")); !errors.Is(err, ErrClaimed) {
		t.Errorf("prepare after the end: %v", err)
	}
	old := *b.Runner
	old.BootID = func() (string, error) { return "boot-0", nil }
	if err := old.Prepare(ctx, b.script("b", "echo b")); err != nil {
		t.Fatal(err)
	}
	if err := b.Start(ctx, b.script("b", "echo b")); !errors.Is(err, ErrClaimed) {
		t.Errorf("start across a reboot: %v", err)
	}
	if err := b.Prepare(ctx, b.script("b", "echo b")); err != nil {
		t.Error(err)
	}
	b.start(b.script("b", "echo b"))
	b.wait("b")
	if entries, err := os.ReadDir(filepath.Join(b.Dir, testSession)); err != nil || len(entries) != 2 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

// Damaged records are named as such, never guessed from.
func TestDamage(t *testing.T) {
	b := newBench(t)
	b.run("exit", "true")
	b.run("run", "true")
	dir := func(act, name string) string { return filepath.Join(b.Dir, testSession, act, name) }
	b.left("exit")
	b.left("run")
	os.WriteFile(dir("exit", exitName), []byte("{"), 0o600)
	os.Remove(dir("run", exitName))
	os.WriteFile(dir("run", runName), []byte(`{"pid":0}`), 0o600)
	for _, act := range []string{"exit", "run"} {
		if st := b.state(act); code(st) != "lost damaged" {
			t.Errorf("%s: %s", act, code(st))
		}
	}
}

func procFile(pid int, name string) string {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	return string(text)
}
