//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// faultKey makes a shim or stage of this test binary stop or die at one step, "kill:step" or "stop:step", or a shim die
// some microseconds after its start, "after:N"; "wait:step" makes a stage wait there for a file in the command's directory.
const faultKey = "PERDURE_TEST_FAULT"

// standbyFaultKey does the same to the stand-in of a shim, once it has woken.
const standbyFaultKey = "PERDURE_TEST_STANDBY_FAULT"

// Set before any init function runs, because a shim runs in one.
var _ = armFault()

func armFault() bool {
	if v := os.Getenv(standbyFaultKey); v != "" {
		standbyEnv = []string{faultKey + "=" + v}
	}
	if v := os.Getenv(faultKey); v != "" {
		faultEnv = []string{faultKey + "=" + v}
		what, step, _ := strings.Cut(v, ":")
		if us, err := strconv.Atoi(step); err == nil {
			faultEnv = nil
			time.AfterFunc(time.Duration(us)*time.Microsecond, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
		sig := syscall.SIGKILL
		if what == "stop" {
			sig = syscall.SIGSTOP
		}
		faultHook = func(s string) {
			if s == step && what == "wait" {
				waitForWake()
			} else if s == step {
				syscall.Kill(os.Getpid(), sig)
				<-time.After(20 * time.Millisecond) // a stop takes its time to reach every thread
			}
		}
	}
	return true
}

// waitForWake waits for the file "wake", once it has made the file "waits".
func waitForWake() {
	_ = os.WriteFile("waits", nil, 0o600)
	for !exists("wake") {
		<-time.After(time.Millisecond)
	}
}

func TestMain(m *testing.M) {
	RunShimIfAsked()
	if root := os.Getenv(agentKey); root != "" {
		agentMain(root)
	}
	playPart()
	if root := os.Getenv(onceKey); root != "" {
		onceMain(root)
	}
	if root := os.Getenv(togetherKey); root != "" {
		togetherMain(root)
	}
	if os.Getenv(listenKey) != "" {
		listenMain()
		os.Exit(0)
	}
	keepsEnds()
	os.Exit(m.Run())
}

// bench is a Runner in a fresh directory, with helpers that fail the test.
type bench struct {
	*Runner
	t   testing.TB
	cwd string
}

const testSession = "s1"

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{Runner: &Runner{Dir: t.TempDir(), Grace: 300 * time.Millisecond}, t: t, cwd: t.TempDir()}
	t.Cleanup(b.killAll)
	return b
}

// killAll ends what a failed test left running.
func (b *bench) killAll() {
	acts, _ := b.List(testSession)
	for _, act := range acts {
		if err := b.Kill(context.Background(), testSession, act, "cleanup"); err != nil && !errors.Is(err, ErrMissing) {
			b.t.Logf("cleanup of %s: %v", act, err)
		}
	}
	// What keeps a command leaves a moment after it, and writes until then.
	for deadline := time.Now().Add(10 * time.Second); len(b.keepers()) > 0 && time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
	}
	for _, p := range b.keepers() {
		b.t.Logf("cleanup: pid %d still keeps an act", p.PID)
		_ = syscall.Kill(p.PID, syscall.SIGKILL)
	}
}

// keepers are the shims and stand-ins of all acts.
func (b *bench) keepers() []process {
	all, err := processes()
	if err != nil {
		b.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(p process) bool {
		args := procFile(p.PID, "cmdline")
		return p.dead() || !strings.Contains(args, "\x00"+b.Dir+"/") || !strings.Contains(args, shimArg)
	})
}

func (b *bench) script(act, text string) command.Spec {
	return command.Spec{
		Session: testSession, Act: act, Script: text, Cwd: b.cwd,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.cwd, "LANG=C.UTF-8"},
	}
}

func (b *bench) start(spec command.Spec) {
	b.t.Helper()
	if err := b.Start(context.Background(), spec); err != nil {
		b.t.Fatalf("start %s: %v", spec.Act, err)
	}
}

func (b *bench) wait(act string) command.State {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	st, err := b.Wait(ctx, testSession, act)
	if err != nil {
		b.t.Fatalf("wait for %s: %v\n%s", act, err, b.log(act))
	}
	return st
}

// run starts a script and waits for its end.
func (b *bench) run(act, text string) command.State {
	b.t.Helper()
	b.start(b.script(act, text))
	return b.wait(act)
}

// output reads everything that was kept, with gaps as [N].
func (b *bench) output(act string) string {
	b.t.Helper()
	var out strings.Builder
	for pos := int64(0); ; {
		chunk, next, gap, err := b.Read(testSession, act, pos, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		if gap > 0 {
			fmt.Fprintf(&out, "[%d]", gap)
		}
		out.Write(chunk)
		if next == pos {
			return out.String()
		}
		pos = next
	}
}

func (b *bench) log(act string) string {
	text, _ := os.ReadFile(actDir(b.Dir + "/" + testSession + "/" + act).path(logName))
	return string(text)
}

// killShim kills the act's only shim.
func (b *bench) killShim(act string) {
	b.t.Helper()
	shims := b.processesOf(act, shimArg)
	if len(shims) != 1 {
		b.t.Fatalf("shims of %s: %v", act, shims)
	}
	syscall.Kill(shims[0].PID, syscall.SIGKILL)
	eventually(b.t, "the shim dies", func() bool { return !alive(shims[0].PID, shims[0].Ticks) })
}

// state is what the directory says, or a failed test.
func (b *bench) state(act string) command.State {
	b.t.Helper()
	st, err := b.State(testSession, act)
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// eventually polls a condition.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	within(t, 15*time.Second, what, cond)
}

func within(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for wait := newPoller(ctx); !cond(); {
		if wait.next() != nil {
			t.Fatalf("timed out: %s", what)
		}
	}
}

func code(st command.State) string {
	switch {
	case st.ExitCode != nil:
		return fmt.Sprintf("%s %d", st.Status, *st.ExitCode)
	case st.Signal != "":
		return fmt.Sprintf("%s %s by %s", st.Status, st.Signal, st.By)
	}
	return fmt.Sprintf("%s %s", st.Status, st.Reason)
}
