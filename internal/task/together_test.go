//go:build linux || darwin

package task

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// togetherKey turns this test binary into an agent that starts commands which print at their end, and waits for them.
const togetherKey = "PERDURE_TEST_TOGETHER"

const (
	togetherActs  = 4
	togetherLines = 300
	togetherGate  = "gate" // a file that keeps the commands from their end
)

func togetherMain(root string) {
	r := &Runner{Dir: filepath.Join(root, "acts"), alone: os.Getenv(aloneKey) != ""}
	for i := range togetherActs {
		spec := command.Spec{
			Session: testSession, Act: "n" + strconv.Itoa(i), Cwd: root, Env: []string{"PATH=" + os.Getenv("PATH")},
			Script: fmt.Sprintf("echo begin %d; sleep 0.%d; while [ -e %s ]; do sleep 0.01; done; for ((i = 0; i < %d; i++)); do echo \"%d line $i\"; done; exit %d",
				i, i%3+1, togetherGate, togetherLines, i, i+1),
		}
		if err := r.Start(context.Background(), spec); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
	fmt.Println("up")
	for i := range togetherActs {
		_, _ = r.Wait(context.Background(), testSession, "n"+strconv.Itoa(i))
	}
	os.Exit(0)
}

func togetherOutput(i int) string {
	var want strings.Builder
	fmt.Fprintln(&want, "begin", i)
	for n := range togetherLines {
		fmt.Fprintf(&want, "%d line %d\n", i, n)
	}
	return want.String()
}

// Agent and all shims die in the same instant while commands print and end, and somebody looks only a while after.
// Nothing that a command printed is lost, and its code is known.
func TestKilledTogether(t *testing.T) {
	short, lost, _ := together(t, false, shimArg)
	if short > 0 || lost > 0 {
		t.Errorf("%d outputs are not whole, %d codes are lost", short, lost)
	}
}

// When everybody dies who could hold an output, what is missing of it is told: no command whose output is cut looks
// whole. It is the control of the test above as well: without anybody left, output does get lost, at least in the round in
// which the commands end after all others are dead and before anybody looks.
func TestKilledAllTogether(t *testing.T) {
	short, _, untold := together(t, true, shimArg)
	if short < togetherActs || untold > 0 {
		t.Errorf("%d outputs are not whole, %d of them untold", short, untold)
	}
	short, _, untold = together(t, false, standbyArg)
	if untold > 0 {
		t.Errorf("with the stand-ins killed too: %d outputs are not whole, %d of them untold", short, untold)
	}
}

// together runs rounds of it. Roles are what is killed besides the agent and its shims. It counts outputs that are not
// whole, codes that are lost, and the former that nobody told of. Who comes first in a round is chance, but not in the
// last one: there the commands wait until those that are killed are dead, and are looked at when they have ended.
func together(t *testing.T, alone bool, role string) (short, lost, untold int) {
	rounds := 6
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 150
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds + 1 {
		b := newBench(t)
		b.Dir = filepath.Join(b.cwd, "acts")
		if round < rounds {
			b.killTogether(alone, role, time.Duration(rng.IntN(330))*time.Millisecond)
			<-time.After(time.Duration(rng.IntN(500)) * time.Millisecond)
		} else {
			b.touch(togetherGate)
			b.killTogether(alone, role, 0)
			b.endTogether()
		}
		for i := range togetherActs {
			act := "n" + strconv.Itoa(i)
			if st := b.collect(act); st.Status == command.Absent || st.Reason == command.ReasonDirMissing {
				continue
			}
			st := b.wait(act)
			b.left(act)
			out := b.output(act)
			if code(st) == "lost shim_died" {
				lost++
			} else if code(st) != fmt.Sprintf("exited %d", i+1) {
				t.Errorf("%s: %s\n%s", act, code(st), b.log(act))
			}
			if out == togetherOutput(i) {
				continue
			}
			short++
			t.Logf("%s: %s, %d bytes of %d, after %v\n%s", act, code(st), len(out), len(togetherOutput(i)), st.MissingAfter, b.log(act))
			if st := b.state(act); st.MissingAfter == nil || !strings.HasPrefix(togetherOutput(i), out[:*st.MissingAfter]) {
				untold++
			}
		}
		b.killAll()
	}
	return short, lost, untold
}

// killTogether starts the agent and ends it, its shims and whatever else plays a role in one instant.
func (b *bench) killTogether(alone bool, role string, delay time.Duration) {
	b.t.Helper()
	agent := exec.Command("/proc/self/exe")
	agent.Env, agent.Stderr = append(os.Environ(), togetherKey+"="+b.cwd), os.Stderr
	if alone {
		agent.Env = append(agent.Env, aloneKey+"=1")
	}
	out, err := agent.StdoutPipe()
	if err == nil {
		err = agent.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	var word [3]byte
	if _, err := out.Read(word[:]); err != nil {
		b.t.Fatal(err)
	}
	<-time.After(delay)
	doomed := []int{agent.Process.Pid}
	for i := range togetherActs {
		act := "n" + strconv.Itoa(i)
		for _, p := range b.processesOf(act, shimArg) {
			doomed = append(doomed, p.PID)
		}
		if role == shimArg {
			continue
		}
		for _, p := range b.processesOf(act, role) {
			doomed = append([]int{p.PID}, doomed...)
		}
	}
	for _, pid := range doomed {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	agent.Wait()
	eventually(b.t, "all are dead", func() bool { return len(b.living(doomed)) == 0 })
}

// endTogether lets the commands end and waits until they have.
func (b *bench) endTogether() {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.cwd, togetherGate)); err != nil {
		b.t.Fatal(err)
	}
	for i := range togetherActs {
		run, err := b.dirOf("n" + strconv.Itoa(i)).readRun()
		if err != nil {
			b.t.Fatal(err)
		}
		eventually(b.t, "a command ends", func() bool { return !alive(run.PID, run.StartTicks) })
	}
}
