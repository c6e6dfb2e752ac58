//go:build linux || darwin

package task

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// onceKey turns this test binary into an agent that starts the one command of a directory and waits for its end.
const onceKey = "PERDURE_TEST_ONCE"

func onceMain(root string) {
	r := &Runner{Dir: filepath.Join(root, "acts"), Grace: 300 * time.Millisecond}
	text, err := os.ReadFile(filepath.Join(root, "script"))
	if err == nil {
		spec := command.Spec{Session: testSession, Act: "a", Script: string(text), Cwd: root, Env: []string{"PATH=" + os.Getenv("PATH")}}
		err = r.Start(context.Background(), spec)
	}
	if err == nil && strings.Contains(string(text), "#killing") {
		for wait := newPoller(context.Background()); !exists(filepath.Join(root, "ran")); {
			_ = wait.next()
		}
		err = r.Kill(context.Background(), testSession, "a", "user")
	}
	if err == nil {
		_, err = r.Wait(context.Background(), testSession, "a")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// campaignState is what a command is doing when something is killed.
type campaignState struct {
	name   string
	script string
	output string        // all that it prints
	within time.Duration // the kill comes at a random time in this span
	ready  bool          // but not before the command has printed something
	held   bool          // the command is alive until it is told to end, so nothing of it may be lost, whoever dies
	want   string
}

var campaign = []campaignState{
	{name: "starting", script: "echo x >> ran; echo up; exit 42", output: "up\n", within: 60 * time.Millisecond, want: "exited 42"},
	{
		name: "running", script: "echo x >> ran; echo up; " + untilGo + "echo end; exit 42", output: "up\nend\n",
		within: 5 * time.Millisecond, ready: true, held: true, want: "exited 42",
	},
	{
		name: "printing", script: "echo x >> ran; seq 1 150000; " + untilGo + "echo end; exit 42", output: sequence(150000) + "end\n",
		within: 20 * time.Millisecond, ready: true, held: true, want: "exited 42",
	},
	{
		name: "ending", script: "echo x >> ran; seq 1 2000; exit 42", output: sequence(2000), within: 15 * time.Millisecond, ready: true,
		want: "exited 42",
	},
	{
		name: "stragglers", script: "(setsid bash -c '" + untilGo + "echo late' &); echo up; echo x >> ran; exit 42", output: "up\nlate\n",
		within: 20 * time.Millisecond, ready: true, held: true, want: "exited 42",
	},
	{
		name: "killing", script: "#killing\ntrap '' TERM; echo x >> ran; sleep 60 & setsid sleep 60 & wait; wait", within: 60 * time.Millisecond,
		ready: true, want: "killed SIGKILL by user",
	},
}

func sequence(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// Agent, shim, or both are killed at random times in every state of a command. It ran once, its code is right, and of
// its output nothing is missing as long as it lived to see a new shim.
func TestKillCampaign(t *testing.T) {
	rounds := 30
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 720
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	seen := map[string]int{}
	for round := range rounds {
		c := campaign[round%len(campaign)]
		victims := []string{"agent", "shim", "both"}[round/len(campaign)%3]
		b := newBench(t)
		b.Dir = filepath.Join(b.cwd, "acts")
		st := b.campaignRound(c, victims, time.Duration(rng.Int64N(int64(c.within))))
		seen[c.name+" "+code(st)]++
		if t.Failed() {
			t.Fatalf("round %d: %s, killed: %s", round, c.name, victims)
		}
	}
	t.Logf("%v", seen)
}

func (b *bench) campaignRound(c campaignState, victims string, delay time.Duration) command.State {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.cwd, "script"), []byte(c.script), 0o600); err != nil {
		b.t.Fatal(err)
	}
	agent := exec.Command("/proc/self/exe")
	agent.Env, agent.Stderr = append(os.Environ(), onceKey+"="+b.cwd), os.Stderr
	if err := agent.Start(); err != nil {
		b.t.Fatal(err)
	}
	ran := func() bool { return exists(filepath.Join(b.cwd, "ran")) }
	eventually(b.t, "the command runs", func() bool { return !c.ready || ran() })
	<-time.After(delay)
	if victims != "shim" {
		agent.Process.Kill()
	}
	if victims != "agent" {
		shims := b.processesOf("a", shimArg)
		for _, p := range shims {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
		eventually(b.t, "the shims die", func() bool {
			return !slices.ContainsFunc(shims, func(p process) bool { return alive(p.PID, p.Ticks) })
		})
	}
	if victims != "shim" {
		agent.Wait()
	}
	st := b.collect("a") // adopts
	unseen := victims == "both" && !c.held
	if c.held {
		b.touch("go")
	}
	if c.name == "killing" { // the agent may have died before it said so
		if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
			b.t.Error(err)
		}
	}
	if st.Status == command.Running {
		st = b.wait("a")
	}
	if victims == "shim" {
		agent.Process.Kill() // it may still wait for stragglers, or for nothing
		agent.Wait()
	}
	if st.Status == command.Absent || st.Reason == command.ReasonDirMissing {
		if ran() {
			b.t.Errorf("%s, but it ran", code(st))
		}
		return st
	}
	eventually(b.t, "all have left", func() bool {
		st = b.look("a")
		return st.Stragglers == 0 && len(b.processesOf("a", shimArg)) == 0
	})
	b.campaignVerdict(c, st, unseen)
	return st
}

// collect settles an act; a directory that is not there is no command.
func (b *bench) collect(act string) command.State {
	b.t.Helper()
	st, err := b.Settle(context.Background(), testSession, act)
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// campaignVerdict compares. unseen says that agent and shim were dead while the command may have ended.
func (b *bench) campaignVerdict(c campaignState, st command.State, unseen bool) {
	b.t.Helper()
	text, _ := os.ReadFile(filepath.Join(b.cwd, "ran"))
	out := b.output("a")
	got := code(st)
	switch {
	case string(text) != "x\n":
		b.t.Errorf("%s, ran %q", got, text)
	case got != c.want && !(unseen && st.Status == command.Lost):
		b.t.Errorf("%s, want %s\n%s", got, c.want, b.log("a"))
	case out != c.output && !(unseen && strings.HasPrefix(c.output, out)):
		b.t.Errorf("%s: %d bytes of %d\n%s", got, len(out), len(c.output), b.log("a"))
	}
}
