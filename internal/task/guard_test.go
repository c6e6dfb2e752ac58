//go:build linux || darwin

package task

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Goal: whoever waits for a command found at resume replaces its shim at once, without having started it and without
// looking all the time, and as often as need be.
func TestWaitMinds(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo up; "+untilGo+"exit 9"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	d := actDir(filepath.Join(b.Dir, testSession, "a"))
	ended := make(chan command.State, 1)
	go func() { ended <- b.wait("a") }()
	for range 3 {
		eventually(t, "the waiter sleeps", func() bool { return asleep(d) })
		b.killShim("a")
		within(t, time.Second, "another shim is there", func() bool { return b.state("a").Reason == "" && len(b.processesOf("a", shimArg)) == 1 })
	}
	eventually(t, "the waiter sleeps", func() bool { return asleep(d) })
	begin := time.Now()
	b.touch("go")
	if st := <-ended; code(st) != "exited 9" {
		t.Errorf("%s", code(st))
	}
	if took := time.Since(begin); took > guardedPoll {
		t.Errorf("the end was noticed after %v", took)
	}
	eventually(t, "no descriptor stays", func() bool { return guards(d) == 0 })
}

// asleep says that this process has handles of the act's shim and command which the kernel will wake it by: beside them
// it has only the keeper's, of the command.
func asleep(d actDir) bool {
	return guards(d) >= 3
}

// guards counts this process's handles of the act's processes.
func guards(d actDir) (n int) {
	shim, _ := d.shim()
	run, err := d.readRun()
	if err != nil {
		return 0
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if pid := pidOfHandle(e.Name()); pid > 0 && (pid == shim.PID || pid == run.PID) {
			n++
		}
	}
	return n
}

func pidOfHandle(fd string) int {
	text := procFile(os.Getpid(), "fdinfo/"+fd)
	var pid int
	if _, after, ok := strings.Cut(text, "\nPid:"); ok {
		_, _ = fmt.Sscan(after, &pid)
	}
	return pid
}

// Goal: many can be waited for at once with hardly any work, and all ends arrive.
func TestWaitForMany(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	const many = 20
	path := filepath.Join(b.cwd, "gate")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	gate, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	var wg sync.WaitGroup
	for i := range many {
		act := "m" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		b.start(b.script(act, "read x < gate; exit 5"))
		wg.Go(func() {
			if st := b.wait(act); code(st) != "exited 5" {
				t.Errorf("%s: %s", act, code(st))
			}
		})
	}
	acts, err := b.List(testSession)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "all sleep", func() bool {
		for _, act := range acts {
			if !asleep(actDir(filepath.Join(b.Dir, testSession, act))) {
				return false
			}
		}
		return true
	})
	before := cpuTime()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	spent := cpuTime() - before
	t.Logf("waiting for %d commands took %v of 500 ms", many, spent)
	if spent > 100*time.Millisecond {
		t.Errorf("waiting for %d commands took %v of 500 ms", many, spent)
	}
	gate.Close() // now nobody can write
	wg.Wait()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
