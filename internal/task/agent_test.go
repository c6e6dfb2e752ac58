//go:build linux || darwin

package task

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

func dupInheritable(f *os.File) (int, error) { return syscall.Dup(int(f.Fd())) }

// agentKey turns this test binary into an agent that starts numbered commands until somebody kills it.
const agentKey = "PERDURE_TEST_AGENT"

// agentMain starts commands one after the other in the directory it is given and prints the number of each that it
// is about to start, and of each whose end it saw.
func agentMain(root string) {
	r := &Runner{Dir: filepath.Join(root, "acts")}
	for i := 0; ; i++ {
		fmt.Println("start", i)
		if err := r.Start(context.Background(), agentSpec(root, i)); err != nil {
			fmt.Println("error", i, err)
			os.Exit(1)
		}
		if i%3 == 0 { // a background command, so that several run when the agent dies
			continue
		}
		if st, err := r.Wait(context.Background(), testSession, "n"+strconv.Itoa(i)); err != nil || code(st) != agentCode(i) {
			fmt.Println("error", i, code(st), err)
			os.Exit(1)
		}
		fmt.Println("end", i)
	}
}

const agentLines = 40

func agentCode(i int) string { return fmt.Sprintf("exited %d", i%200+1) }

func agentSpec(root string, i int) command.Spec {
	script := fmt.Sprintf("echo x >> ran.%d; for ((i = 0; i < %d; i++)); do echo \"%d line $i\"; done; read -t 0.01 < <(sleep 1); exit %d",
		i, agentLines, i, i%200+1)
	return command.Spec{
		Session: testSession, Act: "n" + strconv.Itoa(i), Script: script, Cwd: root, Env: []string{"PATH=" + os.Getenv("PATH")},
	}
}

// The agent is killed at random times. A successor collects the real exit code and the full output of every command
// that was started, each ran exactly once, and none that it calls absent ran.
func TestAgentKilled(t *testing.T) {
	rounds := 12
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 500
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		delay := time.Duration(rng.IntN(150_000)) * time.Microsecond
		root := filepath.Join(t.TempDir(), strconv.Itoa(round))
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
		started := killAgentAfter(t, root, delay)
		r := &Runner{Dir: filepath.Join(root, "acts")}
		for i := range started {
			collect(t, r, root, i, i == started-1)
		}
		os.RemoveAll(root)
	}
}

// killAgentAfter runs an agent for a while and returns how many commands it announced.
func killAgentAfter(t *testing.T, root string, delay time.Duration) int {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), agentKey+"="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(delay, func() { cmd.Process.Kill() })
	text, _ := io.ReadAll(out)
	cmd.Wait()
	started := 0
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if strings.HasPrefix(s.Text(), "error") {
			t.Errorf("agent: %s", s.Text())
		}
		if strings.HasPrefix(s.Text(), "start") {
			started++
		}
	}
	return started
}

func collect(t *testing.T, r *Runner, root string, i int, last bool) {
	t.Helper()
	act := "n" + strconv.Itoa(i)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	st, err := r.Settle(ctx, testSession, act)
	if err == nil && st.Status == command.Running {
		st, err = r.Wait(ctx, testSession, act)
	}
	if err != nil {
		t.Fatal(err)
	}
	ran, _ := os.ReadFile(filepath.Join(root, fmt.Sprintf("ran.%d", i)))
	neverBegan := st.Status == command.Absent || st.Reason == command.ReasonDirMissing
	if last && neverBegan && len(ran) == 0 {
		return
	}
	var want strings.Builder
	for n := range agentLines {
		fmt.Fprintf(&want, "%d line %d\n", i, n)
	}
	out, _, gap, err := r.Read(testSession, act, 0, 1<<20)
	if code(st) != agentCode(i) || string(ran) != "x\n" || string(out) != want.String() || gap != 0 || err != nil {
		t.Errorf("command %d: %s, ran %q, %d bytes of output, gap %d, %v", i, code(st), ran, len(out), gap, err)
	}
}

// Many commands at once: every code and every output is right, and the runner keeps no descriptor.
func TestManyAtOnce(t *testing.T) {
	b := newBench(t)
	before := descriptors(t)
	many := 50
	if os.Getenv("PERDURE_SOAK") != "" {
		many = 500
	}
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			act := "n" + strconv.Itoa(i)
			if err := b.Start(context.Background(), b.script(act, fmt.Sprintf("seq 200; exit %d", i%200))); err != nil {
				t.Error(err)
				return
			}
			st, err := b.Wait(context.Background(), testSession, act)
			if err != nil || code(st) != fmt.Sprintf("exited %d", i%200) || st.Output != 692 || len(b.output(act)) != 692 {
				t.Errorf("%s: %s, %d bytes, %v", act, code(st), st.Output, err)
			}
		})
	}
	wg.Wait()
	eventually(t, "descriptors and shims are gone", func() bool {
		kids, err := descendants(os.Getpid())
		return err == nil && len(kids) == 0 && descriptors(t) <= before
	})
	acts, err := b.List(testSession)
	if err != nil || len(acts) != many {
		t.Errorf("%d acts, %v", len(acts), err)
	}
	for _, act := range acts {
		if err := b.Remove(testSession, act); err != nil {
			t.Error(err)
		}
	}
}

func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Two agents start the same act at the same time: one of them runs it, once.
func TestTwoStarts(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = b.Start(context.Background(), b.script("a", counting)) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		}
	}
	if st := b.wait("a"); won != 1 || code(st) != "exited 42" || b.count() != 1 {
		t.Errorf("%d winners, %s, ran %d times: %v", won, code(st), b.count(), errs)
	}
}

// Shims are killed at random times. No command that is called absent ran, none ran twice, no code is wrong, and none is
// lost: the agent lives and sees to it.
func TestShimsKilled(t *testing.T) {
	rounds := 3
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 100
	}
	seen, adopted := map[command.Status]int{}, 0
	for range rounds {
		b := newBench(t)
		var wg sync.WaitGroup
		for i := range 20 {
			r := *b.Runner
			r.shimEnv = []string{fmt.Sprintf("%s=after:%d", faultKey, rand.IntN(160_000))}
			wg.Go(func() { _ = r.Start(context.Background(), agentSpec(b.cwd, i)) })
		}
		wg.Wait()
		for i := range 20 {
			seen[b.judge(i)]++
			var shim shimRecord
			if readRecord(actDir(filepath.Join(b.Dir, testSession, "n"+strconv.Itoa(i))).path(lockName), &shim) == nil {
				adopted += shim.Adopted
			}
		}
		b.killAll()
	}
	t.Logf("%v, %d adopted", seen, adopted)
	if adopted == 0 || seen[command.Lost] > 0 {
		t.Errorf("%d adopted, %v", adopted, seen)
	}
}

// judge settles one command whose shim may have been killed and compares the verdict with what it did.
func (b *bench) judge(i int) command.Status {
	b.t.Helper()
	act := "n" + strconv.Itoa(i)
	st, err := b.Settle(context.Background(), testSession, act)
	if err == nil && st.Status == command.Running {
		st = b.wait(act)
	}
	ran, _ := os.ReadFile(filepath.Join(b.cwd, fmt.Sprintf("ran.%d", i)))
	if err != nil || len(ran) > len("x\n") || st.Status == command.Absent && len(ran) > 0 ||
		st.ExitCode != nil && (code(st) != agentCode(i) || len(ran) == 0) || st.Status == command.Killed {
		b.t.Errorf("command %d: %s, ran %q, %v", i, code(st), ran, err)
	}
	return st.Status
}
