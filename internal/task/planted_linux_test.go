package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// startElsewhere starts a command from a process that is then killed, so that this process holds nothing of it.
func (b *bench) startElsewhere(script string) {
	b.t.Helper()
	b.Dir = filepath.Join(b.cwd, "acts")
	if err := os.WriteFile(filepath.Join(b.cwd, "script"), []byte(script), 0o600); err != nil {
		b.t.Fatal(err)
	}
	agent := exec.Command("/proc/self/exe")
	agent.Env, agent.Stderr = append(os.Environ(), onceKey+"="+b.cwd), os.Stderr
	if err := agent.Start(); err != nil {
		b.t.Fatal(err)
	}
	eventually(b.t, "it is up", func() bool { return exists(b.dirOf("a").path(runName)) && b.output("a") != "" })
	_ = agent.Process.Kill()
	_ = agent.Wait()
}

// Goal: whoever waits holds on to the output and to a handle of the command before anything dies. Here nobody else does:
// whoever started it and the stand-in are dead, and the shim stands still until the command has printed and ended.
func TestWaitHoldsOn(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.startElsewhere("echo up; " + untilGo + "echo end; exit 42")
	d := b.dirOf("a")
	var shim shimRecord
	eventually(t, "the shim names itself", func() (ok bool) { shim, ok = d.shim(); return ok && shim.Standby > 0 })
	syscall.Kill(shim.PID, syscall.SIGSTOP)
	stops(t, "the shim stands still", shim.PID)
	syscall.Kill(shim.Standby, syscall.SIGKILL)
	ended := make(chan command.State, 1)
	go func() { ended <- b.wait("a") }()
	eventually(t, "the waiter has looked", func() bool { return guards(d) >= 2 })
	run := b.state("a")
	b.touch("go")
	eventually(t, "the command ends", func() bool { return !alive(run.PID, run.StartTicks) })
	syscall.Kill(shim.PID, syscall.SIGKILL)
	if st := <-ended; code(st) != "exited 42" || b.output("a") != "up\nend\n" || st.MissingAfter != nil {
		t.Errorf("%s, output %q, missing after %v\n%s", code(st), b.output("a"), st.MissingAfter, b.log("a"))
	}
}

// A kill that cannot see any more whether a shim is there says so, and does not say that it is done. A socket in the place
// of the lock cannot be opened.
func TestKillThatCannotLook(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "echo up; sleep 600"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	d := b.dirOf("a")
	b.Fault = func(step string) {
		if step == "intent" {
			if err := errors.Join(os.Rename(d.path(lockName), d.path("aside")), syscall.Mknod(d.path(lockName), syscall.S_IFSOCK|0o600, 0)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("killed: %v", err)
	}
	b.Fault = nil
	if err := os.Rename(d.path("aside"), d.path(lockName)); err != nil {
		t.Fatal(err)
	}
	if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil || code(b.state("a")) != "killed SIGTERM by user" {
		t.Errorf("%s, %v", code(b.state("a")), err)
	}
}

// What a terminal has printed is in the record of the end, although nobody has carried it over yet.
func TestTerminalDrainedBeforeTheRecord(t *testing.T) {
	s := endingShim(t)
	master, tty, err := openTTY(24, 80)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	s.in = &input{dir: s.dir, fd: -1, master: master, out: s.out}
	if _, err := tty.WriteString(", and later"); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	if err := s.record(false); err != nil || s.exit.Output != int64(len("late, and later")) {
		t.Errorf("recorded with %d bytes, %v", s.exit.Output, err)
	}
}

// A stand-in that takes over blocks no other signals than the shim did before it, though it was born with all of them
// blocked.
func TestStandInUnblocksSignals(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.startElsewhere("echo up; " + untilGo + "exit 42")
	d := b.dirOf("a")
	var first, second shimRecord
	eventually(t, "the shim names itself", func() (ok bool) { first, ok = d.shim(); return ok && first.Standby > 0 })
	blocked := blockedSignals(t, first.PID)
	syscall.Kill(first.PID, syscall.SIGKILL)
	eventually(t, "the stand-in takes over", func() (ok bool) { second, ok = d.shim(); return ok && second.PID == first.Standby })
	eventually(t, "it blocks no more signals", func() bool { return blockedSignals(t, second.PID)&^blocked == 0 })
	b.touch("go")
	if st := b.wait("a"); code(st) != "exited 42" {
		t.Errorf("%s", code(st))
	}
}

// blockedSignals is the mask of those that every thread of a process blocks.
func blockedSignals(t *testing.T, pid int) uint64 {
	t.Helper()
	blocked := ^uint64(0)
	threads, err := os.ReadDir(procPath(pid, "task"))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		_, rest, _ := strings.Cut(procFile(pid, "task/"+thread.Name()+"/status"), "\nSigBlk:\t")
		mask, _, _ := strings.Cut(rest, "\n")
		if n, err := strconv.ParseUint(mask, 16, 64); err == nil {
			blocked &= n
		}
	}
	return blocked
}

// Only the owner of a process that is there has its guarded fields for sure.
func TestOwns(t *testing.T) {
	if !owns(os.Getpid()) || !mayInspect(os.Getpid()) {
		t.Error("this process is not its own")
	}
	if nobody := 1 << 30; owns(nobody) || mayInspect(nobody) {
		t.Error("a process that is not there is owned")
	}
}

// A tree that grows as fast as it is walked ends the walk.
func TestWalkIsBounded(t *testing.T) {
	found, err := walk(1, func(pid int) ([]int, error) { return []int{pid + 1}, nil })
	if err != nil || len(found) != 32768 || found[0] != 2 {
		t.Errorf("%d processes, %v", len(found), err)
	}
	found, err = walk(1, func(pid int) ([]int, error) {
		return map[int][]int{1: {2, 3}, 3: {4}}[pid], map[int]error{2: syscall.ESRCH}[pid]
	})
	if err != nil || !slices.Equal(found, []int{2, 3, 4}) {
		t.Errorf("%v, %v", found, err)
	}
	if _, err = walk(1, func(int) ([]int, error) { return nil, syscall.ESRCH }); err == nil {
		t.Error("the first one is not there, and nobody says so")
	}
}

// A pipe is made larger, never smaller again.
func TestPipeOnlyGrows(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	large := 2 * markedPages * os.Getpagesize()
	for _, size := range []int{large, 1} {
		growPipe(int(r.Fd()), size)
		if got, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || got != large {
			t.Errorf("asked for %d bytes: it has %d, want %d, %v", size, got, large, err)
		}
	}
}

// A shim whose act has no directory any more does not begin in another one.
func TestShimOfADirectoryThatIsGone(t *testing.T) {
	if err := (&shim{path: actDir(filepath.Join(t.TempDir(), "gone"))}).enter(); !missing(err) {
		t.Errorf("entered: %v", err)
	}
}

// Of the lines about a mapping only the first one begins it; one that is none is not taken for one.
func TestParseMapping(t *testing.T) {
	for line, want := range map[string]struct {
		from, to uintptr
		ok       bool
	}{
		"1000-3000 r-xp 00000000 fe:00 17 /bin/x": {0x1000, 0x3000, true},
		"1000-3000 rw-p 00000000 fe:00 17 /bin/x": {0x1000, 0x3000, true},
		"1000-3000 rw-p 00000000 00:00 0":         {0, 0, true},
		"1000-3000 r--s 00000000 fe:00 17 /bin/x": {0, 0, true},
		"Rss:                 8 kB":               {0, 0, false},
		"AB:                  8 kB":               {0, 0, false},
		"10-:                 8 kB":               {0, 0, false},
		"1000 r-xp":                               {0, 0, false},
		"":                                        {0, 0, false},
	} {
		if from, to, ok := parseMapping([]byte(line)); from != want.from || to != want.to || ok != want.ok {
			t.Errorf("%q: %x to %x, %v", line, from, to, ok)
		}
	}
}

// What a stand-in need not keep of its shim is what was written to in the mappings of files, and nothing else.
func TestTrimMemoryNamesWhatWasWritten(t *testing.T) {
	written, _ := trimMemory()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, span := range written {
		if span[1] == 0 { // of a mapping without a file
			continue
		}
		named++
		begin := fmt.Sprintf("%08x-%08x ", span[0], span[0]+span[1])
		if i := strings.Index(string(maps), begin); i < 0 || !strings.HasPrefix(string(maps)[i+len(begin):], "rw-p ") {
			t.Errorf("%s is not a mapping that can be written to", begin)
		}
	}
	if named == 0 {
		t.Error("this program has no variables")
	}
}

// A script sees nothing of the user's start-up files, although some builds of bash read one for whoever came by ssh.
func TestNoStartUpFiles(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{".bashrc", ".bash_profile", ".profile"} {
		if err := os.WriteFile(filepath.Join(b.cwd, name), []byte("echo "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for act, script := range map[string]string{"short": "echo hi", "long": "echo hi\n#" + pad(maxInline)} {
		spec := b.script(act, script)
		spec.Env = append(spec.Env, "SSH_CLIENT=192.0.2.1 1 22")
		b.start(spec)
		if st := b.wait(act); code(st) != "exited 0" || b.output(act) != "hi\n" {
			t.Errorf("%s: %s, output %q", act, code(st), b.output(act))
		}
	}
}

// A replacement that cannot take over says why to whoever has started it.
func TestAdoptSaysWhatFailed(t *testing.T) {
	b := newBench(t)
	b.noRescue = true
	b.start(b.script("a", "echo up; sleep 60"))
	eventually(t, "it is up", func() bool { return b.output("a") != "" })
	b.killShim("a")
	plan := b.dirOf("a").path(planName)
	text, err := os.ReadFile(plan)
	if err == nil {
		err = os.WriteFile(plan, []byte("torn"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Adopt(context.Background(), testSession, "a"); err == nil || !strings.Contains(err.Error(), errDamaged.Error()) {
		t.Errorf("adopted with a torn plan: %v", err)
	}
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Adopt(context.Background(), testSession, "a"); err != nil {
		t.Error(err)
	}
}

// What a shim makes is its user's alone, before it starts the command and after it.
func TestShimUmask(t *testing.T) {
	b := newBench(t)
	b.shimEnv = []string{faultKey + "=stop:claimed"}
	started := make(chan error, 1)
	go func() { started <- b.Start(context.Background(), b.script("a", "echo up; sleep 60")) }()
	for _, when := range []string{"before", "after"} {
		var pid int
		eventually(t, "there is a shim", func() bool {
			for _, p := range b.processesOf("a", shimArg) {
				if pid = p.PID; when == "before" && p.State == 'T' {
					return true
				}
			}
			_, living := b.dirOf("a").shim()
			return when == "after" && living && b.output("a") != ""
		})
		if status := procFile(pid, "status"); !strings.Contains(status, "\nUmask:\t0077\n") {
			t.Errorf("%s the start:\n%s", when, status)
		}
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	if err := <-started; err != nil {
		t.Error(err)
	}
}

// A command cannot raise its limits, but for the seconds that it has after the signal that its time is up.
func TestLimitsOfLimits(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "ulimit -St; ulimit -Ht; ulimit -Sn; ulimit -Hn")
	spec.Limits.CPUSeconds, spec.Limits.OpenFiles = 1, 10
	b.start(spec)
	if st := b.wait("a"); code(st) != "exited 0" || b.output("a") != fmt.Sprintf("1\n%d\n10\n10\n", 1+cpuGrace) {
		t.Errorf("%s, limits %q", code(st), b.output("a"))
	}
}
