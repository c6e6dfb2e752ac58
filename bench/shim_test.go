package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/task"
)

// The targets. Times are medians, each measured in the same run and interleaved with what it is compared to.
const (
	maxReadyRatio  = 5.0     // shim ready, in units of a plain fork, exec and wait
	maxIdlePSS     = 2 << 20 // bytes of an idle shim
	maxTreeKill    = 50 * time.Millisecond
	minOutputRatio = 0.8                   // of the speed of "cmd > file", for log lines
	maxRead        = time.Millisecond      // of what is new, however much there was
	maxList        = 50 * time.Millisecond // 500 commands
	maxInspect     = 10 * time.Millisecond
)

// shimBench runs commands under the real binary.
type shimBench struct {
	*task.Runner
	t   *testing.T
	cwd string
	n   int

	prepared []time.Duration
}

// newShimBench builds the binary. Its files live where a user's would: directories below /tmp are slow on some
// filesystems.
func newShimBench(t *testing.T) *shimBench {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "perdure-bench-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	exe := filepath.Join(dir, "perdure")
	build := exec.Command("go", "build", "-o", exe, "github.com/perdure/perdure/cmd/perdure")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return &shimBench{Runner: &task.Runner{Dir: filepath.Join(dir, "acts"), Exe: []string{exe}}, t: t, cwd: dir}
}

// run starts a command and returns its act id and how long Start took, from a prepared act to a running command.
func (b *shimBench) run(script string, argv ...string) (string, time.Duration) {
	b.t.Helper()
	b.n++
	spec := command.Spec{
		Session: "bench", Act: "n" + strconv.Itoa(b.n), Script: script, Argv: argv, Cwd: b.cwd, Env: os.Environ(),
	}
	begin := time.Now()
	if err := b.Prepare(context.Background(), spec); err != nil {
		b.t.Fatal(err)
	}
	b.prepared = append(b.prepared, time.Since(begin))
	begin = time.Now()
	if err := b.Start(context.Background(), spec); err != nil {
		b.t.Fatal(err)
	}
	return spec.Act, time.Since(begin)
}

func (b *shimBench) wait(act string) command.State {
	b.t.Helper()
	st, err := b.Wait(context.Background(), "bench", act)
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

// print runs a command to its end, and demands that it printed that much.
func (b *shimBench) print(command string, size int64) (act string, took time.Duration) {
	b.t.Helper()
	begin := time.Now()
	act, _ = b.run(command)
	if st := b.wait(act); st.Output != size {
		b.t.Fatalf("%d bytes of %d", st.Output, size)
	}
	return act, time.Since(begin)
}

func (b *shimBench) kill(act string) {
	b.t.Helper()
	if err := b.Kill(context.Background(), "bench", act, "bench"); err != nil {
		b.t.Fatal(err)
	}
}

func median[T float64 | time.Duration | int](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// benching says whether measurements were asked for; they are worth nothing on a machine that also runs tests.
func benching(t *testing.T) bool {
	if os.Getenv("PERDURE_BENCH") == "" {
		t.Log("set PERDURE_BENCH=1 to measure")
		return false
	}
	return true
}

// The shim is ready soon after a plain process would have been, and its exit is known soon after.
func TestShimReady(t *testing.T) {
	if !benching(t) {
		return
	}
	b := newShimBench(t)
	var plain, ready, whole []time.Duration
	for range 200 {
		begin := time.Now()
		if err := exec.Command("/bin/true").Run(); err != nil {
			t.Fatal(err)
		}
		plain = append(plain, time.Since(begin))
		begin = time.Now()
		act, start := b.run("", "/bin/true")
		b.wait(act)
		whole = append(whole, time.Since(begin))
		ready = append(ready, start)
		if err := b.Remove("bench", act); err != nil {
			t.Fatal(err)
		}
	}
	ratio := float64(median(ready)) / float64(median(plain))
	t.Logf("plain %v, prepare %v, shim ready %v (%.1f times), exit known %v (%.1f times)", median(plain), median(b.prepared),
		median(ready), ratio, median(whole), float64(median(whole))/float64(median(plain)))
	if ratio > maxReadyRatio {
		t.Errorf("shim ready after %.1f times a plain start, at most %.1f", ratio, maxReadyRatio)
	}
}

// An idle shim is small: its share of memory, with fifty of them running.
func TestShimMemory(t *testing.T) {
	if !benching(t) {
		return
	}
	b := newShimBench(t)
	var shims []int
	for count := range 50 {
		act, _ := b.run("", "sleep", "600")
		defer b.kill(act)
		st, err := b.State("bench", act)
		if err != nil {
			t.Fatal(err)
		}
		if shims = append(shims, parentOf(t, st.PID)); count == 0 || count == 49 {
			pss := idlePSS(t, shims)
			t.Logf("idle shim: PSS %.2f MiB, one of %d", float64(pss)/(1<<20), len(shims))
			if pss > maxIdlePSS {
				t.Errorf("PSS of %d bytes, at most %d", pss, maxIdlePSS)
			}
		}
	}
}

// idlePSS returns the median share of memory once the shims have been idle long enough to trim themselves. A shim's
// stand-in counts with it.
func idlePSS(t *testing.T, shims []int) int {
	<-time.After(3 * time.Second)
	var pss []int
	for _, pid := range shims {
		sum := procNumber(t, pid, "smaps_rollup", "Pss:") << 10
		if standby := standbyOf(t, pid); standby != 0 {
			sum += procNumber(t, standby, "smaps_rollup", "Pss:") << 10
		}
		pss = append(pss, sum)
	}
	return median(pss)
}

// standbyOf is the process that would take a shim's place, 0 if it has none.
func standbyOf(t *testing.T, shim int) int {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", shim))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, pid := range strings.Fields(string(text)) {
			if args, _ := os.ReadFile("/proc/" + pid + "/cmdline"); strings.Contains(string(args), "__perdure-wait") {
				n, _ := strconv.Atoi(pid)
				return n
			}
		}
	}
	return 0
}

func parentOf(t *testing.T, pid int) int { return procNumber(t, pid, "status", "PPid:") }

// procNumber reads one number of a process's proc file.
func procNumber(t *testing.T, pid int, file, key string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in %s of %d", key, file, pid)
	return 0
}

// Output flows nearly as fast as into a file.
func TestShimOutput(t *testing.T) {
	if !benching(t) {
		return
	}
	b := newShimBench(t)
	const size = 256 << 20
	for name, command := range map[string]string{
		"log lines":               logLines(size),
		"log lines, many a write": fmt.Sprintf("yes '2026-01-01 12:00:00 INFO a line of a log that is about eighty bytes long, like many' | head -c %d", size),
		"log lines, each a write": strings.Replace(logLines(size), ", i }", ", i; fflush() }", 1),
		"blocks":                  fmt.Sprintf("head -c %d /dev/zero", size),
	} {
		var ratios []float64
		for range 5 {
			begin := time.Now()
			plain := exec.Command("bash", "-c", command+" > "+filepath.Join(b.cwd, "plain"))
			if err := plain.Run(); err != nil {
				t.Fatal(err)
			}
			direct := time.Since(begin)
			act, took := b.print(command, size)
			ratios = append(ratios, float64(direct)/float64(took))
			begin = time.Now()
			if _, _, _, err := b.Read("bench", act, size-4096, 4096); err != nil || time.Since(begin) > 10*maxRead {
				t.Errorf("read of the newest 4 KiB took %v, %v", time.Since(begin), err)
			}
			if err := b.Remove("bench", act); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: %.2f of the speed of a plain file", name, median(ratios))
		if name == "log lines" && median(ratios) < minOutputRatio {
			t.Errorf("%s at %.2f of a plain file, at least %.2f", name, median(ratios), minOutputRatio)
		}
	}
}

// logLines is a command that writes lines of 64 bytes, size bytes in all, as programs do: it words each one, and its
// library writes some of them together.
func logLines(size int) string {
	const line = "2026-01-01 12:00:00 INFO request served in 9 ms, id %011d"
	return fmt.Sprintf(`awk 'BEGIN { for (i = 0; i < %d; i++) { printf "%s\n", i } }'`, size/64, line)
}

// A tree of seven with two that left their session is gone at once.
func TestShimTreeKill(t *testing.T) {
	if !benching(t) {
		return
	}
	b := newShimBench(t)
	const tree = `sleep 600 & sleep 600 & setsid sleep 600 & (setsid bash -c 'sleep 600 & sleep 600; :' &) ; echo up; wait`
	var times []time.Duration
	for range 20 {
		act, _ := b.run(tree)
		for text := []byte(nil); len(text) == 0; {
			var err error
			if text, _, _, err = b.Read("bench", act, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		b.kill(act)
		times = append(times, time.Since(begin))
	}
	t.Logf("tree kill %v", median(times))
	if median(times) > maxTreeKill {
		t.Errorf("tree kill took %v, at most %v", median(times), maxTreeKill)
	}
}

// Five hundred commands, a tenth of them running, are listed with their states at once, and one is looked into.
func TestShimList(t *testing.T) {
	if !benching(t) {
		return
	}
	b := newShimBench(t)
	const many, running = 500, 50
	for i := range many {
		if i%(many/running) == 0 {
			act, _ := b.run("", "sleep", "600")
			defer b.kill(act)
			continue
		}
		act, _ := b.run("", "/bin/true")
		b.wait(act)
	}
	var lists, looks []time.Duration
	for range 11 {
		begin, live := time.Now(), 0
		acts, err := b.List("bench")
		if err != nil || len(acts) != many {
			t.Fatalf("%d commands, %v", len(acts), err)
		}
		for _, act := range acts {
			st, err := b.State("bench", act)
			if err != nil {
				t.Fatal(err)
			}
			if st.Status == command.Running {
				live++
			}
		}
		if lists = append(lists, time.Since(begin)); live != running {
			t.Errorf("%d run", live)
		}
		begin = time.Now()
		if in, err := b.Inspect("bench", "n1"); err != nil || len(in.PIDs) != 1 {
			t.Errorf("%+v, %v", in, err)
		}
		looks = append(looks, time.Since(begin))
	}
	t.Logf("list of %d: %v; inspection %v", many, median(lists), median(looks))
	if median(lists) > maxList || median(looks) > maxInspect {
		t.Errorf("at most %v and %v", maxList, maxInspect)
	}
}
