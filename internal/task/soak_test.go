//go:build linux || darwin

package task

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// chatter prints twenty numbered lines five times a second, for ever, without starting anything.
const chatter = `exec {never}<> <(:); i=0
while :; do for ((k = 0; k < 20; k++)); do echo "line $((i++)) of a task that has a lot to say"; done; read -t 0.2 -u $never; done`

// chat is one chatty task and its reader.
type chat struct {
	act  string
	pos  int64
	line int    // the next one
	rest string // of an unfinished line
}

// Chatty tasks run for a long time while their shims, they themselves, or both are killed. No line is lost or told
// twice, and neither the agent nor the shims grow.
func TestChattyTasks(t *testing.T) {
	tasks, span := 10, 3*time.Second
	if os.Getenv("PERDURE_SOAK") != "" {
		tasks, span = 200, 20*time.Minute
	}
	b := newBench(t)
	chats := make([]*chat, tasks)
	for i := range chats {
		chats[i] = b.chat(fmt.Sprintf("c%d.0", i))
	}
	var early, late footprint
	kills := map[string]int{}
	begun, next := time.Now(), 0
	for tick := time.NewTicker(span / 2000 * 3); time.Since(begun) < span || late.samples < 3; <-tick.C {
		i := rand.IntN(tasks)
		what := []string{"shim", "shim", "shim", "task", "both"}[rand.IntN(5)]
		if chats[i].follow(b); !b.strike(chats[i], what) {
			generation, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(chats[i].act), "."))
			chats[i] = b.chat(fmt.Sprintf("c%d.%d", i, generation+1))
		}
		kills[what]++
		for range 10 { // everybody is read long before anything that is kept has to make room
			chats[next%tasks].follow(b)
			next++
		}
		switch part := time.Since(begun) * 4 / span; { // a slow machine comes late, but takes all of them
		case part >= 1 && early.samples < 5 && late.samples == 0 && (part == 1 || early.samples < 3):
			early.take(t, b)
		case part >= 3 && late.samples < 5:
			late.take(t, b)
		}
		if t.Failed() {
			break
		}
	}
	lines := 0
	for _, c := range chats {
		c.follow(b)
		lines += c.line
	}
	t.Logf("%d tasks for %s, killed: %v, %d lines of those that live at the end; second quarter: %v; last: %v", tasks, span, kills, lines, &early, &late)
	late.flat(t, &early)
	b.killAll()
}

// chat starts a chatty task.
func (b *bench) chat(act string) *chat {
	b.t.Helper()
	spec := b.script(act, chatter)
	spec.KeepBytes = 1 << 20
	b.start(spec)
	return &chat{act: act}
}

// strike kills something of a task and reports whether the task goes on.
func (b *bench) strike(c *chat, what string) bool {
	b.t.Helper()
	command := b.state(c.act).PID
	if what != "task" {
		for _, p := range b.processesOf(c.act, shimArg) {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	switch what {
	case "shim":
		return true
	case "both":
		syscall.Kill(command, syscall.SIGKILL)
		if got := code(b.wait(c.act)); got != "killed SIGKILL by unknown" && got != "lost shim_died" {
			b.t.Errorf("%s killed with its shim: %s", c.act, got)
		}
	case "task":
		if err := b.Kill(context.Background(), testSession, c.act, "user"); err != nil {
			b.t.Error(err)
		}
		if got := code(b.wait(c.act)); !strings.HasPrefix(got, "killed SIG") || !strings.HasSuffix(got, " by user") {
			b.t.Errorf("%s was ended: %s", c.act, got)
		}
	}
	eventually(b.t, "nothing of the task is left", func() bool { return b.Remove(testSession, c.act) == nil })
	return false
}

// follow reads what is new: the next lines, in order, without a gap.
func (c *chat) follow(b *bench) {
	b.t.Helper()
	for {
		chunk, next, gap, err := b.Read(testSession, c.act, c.pos, 0)
		if err != nil || gap > 0 {
			b.t.Fatalf("%s: read at %d: gap of %d, %v", c.act, c.pos, gap, err)
		}
		if len(chunk) == 0 {
			return
		}
		c.pos = next
		lines := strings.Split(c.rest+string(chunk), "\n")
		c.rest = lines[len(lines)-1]
		for _, line := range lines[:len(lines)-1] {
			if !strings.HasPrefix(line, fmt.Sprintf("line %d of ", c.line)) {
				b.t.Fatalf("%s: want line %d, got %q", c.act, c.line, line)
			}
			c.line++
		}
	}
}

// footprint sums up samples of what agent and shims use.
type footprint struct {
	samples                  int
	heap, goroutines, opened int // of the agent
	shims, memory, shimFiles int // of all shims; memory is their proportional share in KiB
}

func (f *footprint) take(t *testing.T, b *bench) {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.samples++
	f.heap += int(m.HeapAlloc >> 10)
	f.goroutines += runtime.NumGoroutine()
	f.opened += descriptors(t)
	acts, err := b.List(testSession)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range acts {
		for _, p := range b.processesOf(act, shimArg) {
			entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID)) // it may just have died
			f.shims, f.shimFiles, f.memory = f.shims+1, f.shimFiles+len(entries), f.memory+proportional(p.PID)
		}
	}
}

// proportional is a process's share of memory in KiB.
func proportional(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it may just have died
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}

func (f *footprint) String() string {
	n, shims := max(f.samples, 1), max(f.shims, 1)
	return fmt.Sprintf("agent: heap %d KiB, %d goroutines, %d descriptors; a shim: %d KiB, %.1f descriptors",
		f.heap/n, f.goroutines/n, f.opened/n, f.memory/shims, float64(f.shimFiles)/float64(shims))
}

// flat fails if f uses a quarter more than before did.
func (f *footprint) flat(t *testing.T, before *footprint) {
	t.Helper()
	if f.samples == 0 || before.samples == 0 {
		t.Fatalf("nothing was measured: %d and %d samples", before.samples, f.samples)
	}
	grown := func(what string, now, then, samplesNow, samplesThen, slack int) {
		if a, b := now/max(samplesNow, 1), then/max(samplesThen, 1); a > b+b/4+slack {
			t.Errorf("%s grew from %d to %d", what, b, a)
		}
	}
	grown("the agent's heap (KiB)", f.heap, before.heap, f.samples, before.samples, 1024)
	grown("the agent's goroutines", f.goroutines, before.goroutines, f.samples, before.samples, 10)
	grown("the agent's descriptors", f.opened, before.opened, f.samples, before.samples, 10)
	grown("a shim's memory (KiB)", f.memory, before.memory, f.shims, before.shims, 300)
	grown("a shim's descriptors", f.shimFiles, before.shimFiles, f.shims, before.shims, 1)
}
