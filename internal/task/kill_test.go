//go:build linux || darwin

package task

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// tree starts processes that try to get away: children, a new session, a double fork, one that ignores TERM. Each
// writes its pid to the file pids.
const tree = `
note() { echo $BASHPID >> pids; }
sleeper() { note; trap '' TERM; while :; do sleep 60; done; }
sleep 60 & echo $! >> pids
setsid bash -c 'echo $$ >> pids; sleep 60' &
( setsid bash -c 'echo $$ >> pids; trap "" TERM HUP; sleep 60 & echo $! >> pids; wait' & )
sleeper &
note
`

// pids returns the processes that the tree noted.
func (b *bench) pids() []int {
	text, _ := os.ReadFile(filepath.Join(b.cwd, "pids"))
	var pids []int
	for _, f := range strings.Fields(string(text)) {
		var pid int
		if json.Unmarshal([]byte(f), &pid) == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (b *bench) living(pids []int) (left []int) {
	for _, pid := range pids {
		if p, err := readProcess(pid); err == nil && !p.dead() {
			left = append(left, pid)
		}
	}
	return left
}

func (b *bench) startTree(end string) []int {
	b.t.Helper()
	b.start(b.script("a", tree+end))
	eventually(b.t, "the tree stands", func() bool { return len(b.pids()) == 6 })
	return b.pids()
}

// Nothing of the tree is left when Kill returns, and the record names the killer.
func TestKillTree(t *testing.T) {
	b := newBench(t)
	pids := b.startTree("wait")
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Fatal(err)
	}
	if left := b.living(pids); len(left) > 0 {
		t.Errorf("alive: %v of %v", left, pids)
	}
	if st := b.state("a"); code(st) != "killed SIGTERM by user" || st.Stragglers != 0 {
		t.Errorf("state %s, %d stragglers", code(st), st.Stragglers)
	}
	// Killing the dead is no error and changes nothing.
	if err := b.Kill(context.Background(), testSession, "a", "agent"); err != nil {
		t.Error(err)
	}
	if st := b.state("a"); st.By != "user" {
		t.Errorf("killed by %s", st.By)
	}
}

// The shim kills the tree when the time is up, with no agent asking.
func TestTimeout(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", tree+"wait")
	spec.TimeoutMS = 400
	b.start(spec)
	st := b.wait("a")
	if code(st) != "killed SIGTERM by timeout" {
		t.Errorf("state %s", code(st))
	}
	if left := b.living(b.pids()); len(left) > 0 || st.Stragglers != 0 {
		t.Errorf("alive: %v, %d stragglers", left, st.Stragglers)
	}
}

// A command that ignores TERM is killed after the grace; one that handles it is still killed, without a code.
func TestKillHandlers(t *testing.T) {
	b := newBench(t)
	for act, c := range map[string]struct{ script, want string }{
		"ignores": {"trap '' TERM; echo up; while :; do sleep 60 & wait; done", "killed SIGKILL by user"},
		"handles": {"trap 'echo saved; exit 3' TERM; echo up; sleep 60 & wait", "killed SIGTERM by user"},
		"stopped": {"echo up; kill -STOP $$; echo not", "killed SIGTERM by user"},
	} {
		b.start(b.script(act, c.script))
		eventually(t, act+" is up", func() bool { return b.output(act) != "" })
		if err := b.Kill(context.Background(), testSession, act, "user"); err != nil {
			t.Fatal(err)
		}
		st := b.state(act)
		if code(st) != c.want {
			t.Errorf("%s: %s, want %s", act, code(st), c.want)
		}
		if act == "handles" && b.output(act) != "up\nsaved\n" {
			t.Errorf("output %q", b.output(act))
		}
	}
}

// What a command leaves behind is counted as long as it lives, its output is kept, and it can be killed.
func TestStragglers(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "setsid bash -c 'echo started; while [ ! -e stop ]; do sleep 0.02; done; echo late' & echo done; exit 4"))
	st := b.wait("a")
	if code(st) != "exited 4" || st.Stragglers < 1 {
		t.Errorf("%s, %d stragglers", code(st), st.Stragglers)
	}
	if err := b.Remove(testSession, "a"); !errors.Is(err, ErrRunning) {
		t.Errorf("remove: %v", err)
	}
	if err := os.WriteFile(filepath.Join(b.cwd, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the straggler ends", func() bool { return b.state("a").Stragglers == 0 })
	if out := b.output("a"); !strings.HasSuffix(out, "late\n") || b.state("a").Output != int64(len(out)) {
		t.Errorf("output %q of %d bytes", out, b.state("a").Output)
	}
	b.start(b.script("b", "setsid sleep 60 & exit 5"))
	if st := b.wait("b"); code(st) != "exited 5" || st.Stragglers != 1 {
		t.Errorf("%s, %d stragglers", code(st), st.Stragglers)
	}
	if err := b.Kill(context.Background(), testSession, "b", "user"); err != nil {
		t.Fatal(err)
	}
	if st := b.state("b"); code(st) != "exited 5" || st.Stragglers != 0 {
		t.Errorf("after the kill %s, %d stragglers", code(st), st.Stragglers)
	}
}

// A reused pid is neither taken for the command nor signalled.
func TestPidReuse(t *testing.T) {
	b := newBench(t)
	b.run("a", "true")
	d := actDir(filepath.Join(b.Dir, testSession, "a"))
	b.left("a")
	os.Remove(d.path(exitName))
	run, err := d.readRun()
	if err != nil {
		t.Fatal(err)
	}
	self, err := readProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	run.PID, run.StartTicks = self.PID, self.Ticks-1
	text, _ := json.Marshal(run)
	os.WriteFile(d.path(runName), text, 0o600)
	if st := b.state("a"); code(st) != "lost shim_died" {
		t.Errorf("state %s", code(st))
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Error(err)
	}
	if signalProcess(os.Getpid(), 1, syscall.SIGKILL) {
		t.Error("signalled a process by its pid alone")
	}
}

// Kill before the start voids the act; of an unknown act it says so. A stopped shim is woken.
func TestKillEarly(t *testing.T) {
	b := newBench(t)
	ctx := context.Background()
	if err := b.Prepare(ctx, b.script("a", counting)); err != nil {
		t.Fatal(err)
	}
	if err := b.Kill(ctx, testSession, "a", "user"); err != nil {
		t.Error(err)
	}
	if err := b.Start(ctx, b.script("a", counting)); !errors.Is(err, ErrClaimed) {
		t.Errorf("start: %v", err)
	}
	if err := b.Kill(ctx, testSession, "none", "user"); !errors.Is(err, ErrMissing) {
		t.Errorf("unknown: %v", err)
	}
	b.start(b.script("s", "sleep 60"))
	shim := b.processesOf("s", shimArg)[0]
	eventually(t, "the shim names itself", func() bool {
		var rec shimRecord
		return readRecord(actDir(filepath.Join(b.Dir, testSession, "s")).path(lockName), &rec) == nil && rec.PID > 0
	})
	syscall.Kill(shim.PID, syscall.SIGSTOP)
	eventually(t, "the shim stops", func() bool { p, _ := readProcess(shim.PID); return p.State == 'T' })
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := b.Kill(ctx, testSession, "s", "user"); err != nil {
		t.Error(err)
	}
	if st := b.state("s"); code(st) != "killed SIGTERM by user" {
		t.Errorf("state %s", code(st))
	}
}

// The shim dies at every line of a kill. The next Kill ends what is left, and nothing is reported that is not so.
func TestDeathWhileKilling(t *testing.T) {
	for _, step := range []string{"killing", "grace-over", "ended", "tmp-exit.json", "recorded"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := faulty(t, "kill:"+step)
			b.start(b.script("a", "echo x >> ran; sleep 60"))
			eventually(t, "it runs", func() bool { return b.count() == 1 })
			if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
				t.Fatal(err)
			}
			st := b.state("a")
			if st.Status == command.Running || st.By != "user" {
				t.Errorf("state %s by %q", code(st), st.By)
			}
			if alive(st.PID, st.StartTicks) {
				t.Error("the command lives")
			}
		})
	}
}

// The agent dies between intent and signal. The death, when it comes, is attributed to who wanted it.
func TestIntentSurvives(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "sleep 60"))
	type crash struct{}
	b.Fault = func(step string) {
		if step == "intent" {
			panic(crash{})
		}
	}
	func() {
		defer func() { _ = recover().(crash) }()
		b.Kill(context.Background(), testSession, "a", "user")
	}()
	b.Fault = nil
	if st := b.state("a"); st.Status != command.Running {
		t.Fatalf("state %s", code(st))
	}
	if err := b.Kill(context.Background(), testSession, "a", "someone else"); err != nil {
		t.Fatal(err)
	}
	if st := b.state("a"); code(st) != "killed SIGTERM by user" {
		t.Errorf("state %s", code(st))
	}
}

// A process that keeps replacing itself by a child in a new session does not outrun the kill.
func TestKillHopper(t *testing.T) {
	b := newBench(t)
	hop := "trap '' TERM HUP\nsetsid sh hop.sh & setsid sh -c 'sleep 0.01' &\nexit\n"
	if err := os.WriteFile(filepath.Join(b.cwd, "hop.sh"), []byte(hop), 0o600); err != nil {
		t.Fatal(err)
	}
	b.start(b.script("a", "sh hop.sh; echo up; exit 0"))
	if st := b.wait("a"); code(st) != "exited 0" || st.Stragglers == 0 {
		t.Errorf("%s, %d stragglers", code(st), st.Stragglers)
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
		t.Fatal(err)
	}
	if st := b.state("a"); code(st) != "exited 0" || st.Stragglers != 0 {
		t.Errorf("%s, %d stragglers", code(st), st.Stragglers)
	}
}
