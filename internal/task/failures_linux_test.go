package task

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/test/needs"
)

// unreapedKey turns this test binary into the parent of whatever loses its own, like the first process of many
// containers: it starts an agent and reaps nobody.
const unreapedKey = "PERDURE_TEST_UNREAPED"

func unreapedMain(root string) {
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if err == nil {
		_, err = syscall.ForkExec("/proc/self/exe", os.Args[:1], &syscall.ProcAttr{
			Env: environWithout(unreapedKey, onceKey+"="+root), Files: []uintptr{0, 1, 2},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for {
		_ = unix.Pause() // in the kernel: a Go program that only sleeps would be taken for one in a deadlock
	}
}

// playPart turns this process into one of those that the tests of this file need, if it is to be one.
func playPart() {
	if tests := os.Getenv(initKey); tests != "" {
		initMain(tests)
	}
	if root := os.Getenv(unreapedKey); root != "" {
		unreapedMain(root)
	}
}

// environWithout is this process's environment without a key, and with more.
func environWithout(key string, more ...string) []string {
	return append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, key+"=") }), more...)
}

// failing is one command whose surroundings fail. Its agent is a process of its own, under a parent that reaps nobody.
type failing struct {
	*bench
	parent *exec.Cmd
	boot   string // of whoever looks; empty: this one
}

// failure is one row of the table: what happens to a command and to those around it, what everybody who looks then is
// told, and what becomes of it.
type failure struct {
	name   string
	script string
	deed   func(f *failing)
	want   string // how it stands then
	left   int    // stragglers, then; 1 stands for any number
	end    string // how it ends once it may; empty: it stands as it does
	output string
}

const (
	held      = "echo x >> ran; echo up; " + untilGo + "echo end; exit 42"
	leaving   = "(setsid bash -c '" + untilGo + "echo late' &); echo up; echo x >> ran; exit 42"
	stubborn  = "trap '' TERM; echo x >> ran; echo up; (setsid bash -c 'trap \"\" TERM; sleep 60' &); while :; do sleep 1; done"
	upAndEnd  = "up\nend\n"
	upAndLate = "up\nlate\n"
)

// failures is the table of what can fail, by the names that it has in the documentation of this package.
var failures = []failure{
	{"agent dead", held, func(f *failing) { f.killAgent() }, "running", 0, "exited 42", upAndEnd},
	{"shim dead, agent alive", held, func(f *failing) { f.killShims() }, "running", 0, "exited 42", upAndEnd},
	{"both dead", held, func(f *failing) { f.killAgent(); f.killShims() }, "running", 0, "exited 42", upAndEnd},
	{"adopter dead", held, func(f *failing) {
		f.killAgent()
		for range 3 {
			f.killShims()
			f.reader().look("a")
		}
	}, "running", 0, "exited 42", upAndEnd},
	{"both dead, command ended unseen and unreaped", held, func(f *failing) {
		f.killAgent()
		f.killShims()
		f.letEnd()
	}, "exited 42", 0, "", "up\n"},
	{"both dead, command ended unseen by a signal", strings.Replace(held, "exit 42", "kill -SEGV $$", 1), func(f *failing) {
		f.killAgent()
		f.killShims()
		f.letEnd()
	}, "killed SIGSEGV by unknown", 0, "", "up\n"},
	{"everything killed, nothing reaped", held, func(f *failing) { f.killAll() }, "killed SIGKILL by unknown", 0, "", "up\n"},
	{"everything killed and reaped", held, func(f *failing) {
		f.killAll()
		f.endParent()
	}, "lost shim_died", 0, "", "up\n"}, // where the first process reaps: see TestFailures
	{"stragglers", leaving, func(f *failing) { f.wait("a") }, "exited 42", 1, "exited 42", upAndLate},
	{"stragglers, both dead", leaving, func(f *failing) { f.wait("a"); f.killAgent(); f.killShims() }, "exited 42", 1, "exited 42", upAndLate},
	{"killed, ignores TERM, double fork", stubborn, func(f *failing) { f.kill() }, "killed SIGKILL by user", 0, "", "up\n"},
	{"killed with both dead", stubborn, func(f *failing) { f.killAgent(); f.killShims(); f.kill() }, "killed SIGKILL by user", 0, "", "up\n"},
	{"kill intended, then both dead", stubborn, func(f *failing) {
		f.killAgent()
		if err := f.dir().recordIntent("user", 1, f.grace()); err != nil {
			f.t.Error(err)
		}
		f.killShims()
		f.look("a")
		f.wait("a")
	}, "killed SIGKILL by user", 0, "", "up\n"},
	{"output closed, both dead", "echo x >> ran; echo up; exec >&- 2>&-; " + untilGo + "exit 42", func(f *failing) {
		f.killAgent()
		f.killShims()
	}, "running", 0, "exited 42", "up\n"},
	{"binary output, both dead", "echo x >> ran; printf 'up\\n\\000\\377'; " + untilGo + "printf '\\001\\r\\n\\033'; exit 42", func(f *failing) {
		f.killAgent()
		f.killShims()
	}, "running", 0, "exited 42", "up\n\x00\xff\x01\r\n\x1b"},
	// The kernel hangs up on a stopped process group when the last of its session that could wake it is gone.
	{"stopped command, both dead", "echo x >> ran; echo up; kill -STOP $$; echo end; exit 42", func(f *failing) {
		eventually(f.t, "it stops", func() bool { p, err := readProcess(f.state("a").PID); return err == nil && p.State == 'T' })
		f.killAgent()
		f.killShims()
		f.letEnd()
	}, "killed SIGHUP by unknown", 0, "", "up\n"},
	{"reboot", held, func(f *failing) { f.killAll(); f.boot = "another" }, "lost reboot", 0, "", "up\n"},
	{"reboot after the end", held, func(f *failing) {
		f.letEnd()
		f.wait("a")
		f.boot = "another"
	}, "exited 42", 0, "", upAndEnd},
	{"reboot with stragglers", leaving, func(f *failing) {
		f.wait("a")
		f.killAll()
		f.boot = "another"
	}, "exited 42", 0, "", "up\n"},
	{"pid reused", held, func(f *failing) {
		f.killAll()
		f.reusePid()
	}, "lost shim_died", 0, "", "up\n"},
	{"directory gone", held, func(f *failing) {
		f.killAll()
		if err := os.RemoveAll(string(f.dir())); err != nil {
			f.t.Error(err)
		}
	}, "lost dir_missing", 0, "", ""},
	{"exit record torn", held, func(f *failing) {
		f.letEnd()
		f.wait("a")
		eventually(f.t, "the shim leaves", func() bool { return len(f.processesOf("a", shimArg)) == 0 })
		if err := os.Truncate(f.dir().path(exitName), 7); err != nil {
			f.t.Error(err)
		}
	}, "lost damaged", 0, "", upAndEnd},
}

// Goal: whatever fails, a command is running as long as it lives, it ran once, no code is guessed, what it printed is
// there as long as anybody could keep it, and all who look say the same.
func TestFailures(t *testing.T) {
	for _, row := range failures {
		if inside() && !strings.Contains(row.name, "both dead") && !strings.Contains(row.name, "reaped") {
			continue // what depends on who reaps, and on pids
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := startFailing(t, row.script)
			row.deed(f)
			if row.name == "everything killed and reaped" && inside() {
				row.want = "killed SIGKILL by unknown" // nobody does reap it here
			}
			r := f.reader()
			for range 2 {
				if st := r.collect("a"); standing(st) != row.want || (st.Stragglers > 0) != (row.left > 0) {
					t.Errorf("it is %s with %d stragglers, want %s", standing(st), st.Stragglers, row.want)
				}
			}
			if row.end != "" {
				f.touch("go")
				var st command.State
				eventually(t, "nothing of it is left", func() bool {
					st = r.look("a")
					return st.Status != command.Running && st.Stragglers == 0 && len(f.processesOf("a", shimArg)) == 0
				})
				if code(st) != row.end {
					t.Errorf("it ended as %s, want %s", code(st), row.end)
				}
			}
			missed := strings.Contains(row.name, "unseen")
			if st := r.collect("a"); (st.MissingAfter != nil) != missed && (missed || row.end != "" && !strings.Contains(row.name, "closed")) || missed && *st.MissingAfter != 3 {
				t.Errorf("output is missing after %v", st.MissingAfter)
			}
			if row.want != "lost dir_missing" && r.output("a") != row.output {
				t.Errorf("it printed %q, want %q", r.output("a"), row.output)
			}
			if text, err := os.ReadFile(filepath.Join(f.cwd, "ran")); err != nil || string(text) != "x\n" {
				t.Errorf("it ran %q, %v", text, err)
			}
		})
	}
}

// standing is how a command stands, in words.
func standing(st command.State) string {
	if st.Status == command.Running {
		return "running"
	}
	return code(st)
}

// startFailing starts a command under an agent of its own and waits until it has printed.
func startFailing(t *testing.T, script string) *failing {
	t.Helper()
	f := &failing{bench: newBench(t)}
	f.Dir, f.noRescue = filepath.Join(f.cwd, "acts"), true
	if err := os.WriteFile(filepath.Join(f.cwd, "script"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	f.parent = exec.Command("/proc/self/exe")
	f.parent.Env, f.parent.Stderr = append(os.Environ(), unreapedKey+"="+f.cwd), os.Stderr
	if err := f.parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.killAll()
		f.parent.Process.Kill()
		_ = f.parent.Wait()
	})
	eventually(t, "the command prints", func() bool { return exists(filepath.Join(f.cwd, "ran")) && strings.HasPrefix(f.output("a"), "up\n") })
	return f
}

func (f *failing) dir() actDir { return actDir(filepath.Join(f.Dir, testSession, "a")) }

// reader is somebody else who looks, under the boot that it is then.
func (f *failing) reader() *bench {
	r := *f.Runner
	if f.boot != "" {
		boot := f.boot
		r.BootID = func() (string, error) { return boot, nil }
	}
	return &bench{Runner: &r, t: f.t, cwd: f.cwd}
}

// killAgent kills the agent, which nobody reaps.
func (f *failing) killAgent() {
	f.t.Helper()
	all, err := processes()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, p := range all {
		if p.PPID == f.parent.Process.Pid && !p.dead() && strings.Contains(procFile(p.PID, "environ"), onceKey+"="+f.cwd) &&
			!strings.Contains(procFile(p.PID, "cmdline"), shimArg) && p.SID != p.PID {
			syscall.Kill(p.PID, syscall.SIGKILL)
			eventually(f.t, "the agent dies", func() bool { return !alive(p.PID, p.Ticks) })
		}
	}
}

// killShims kills the shims, and before them what would take their place. A stopped shim makes no other one.
func (f *failing) killShims() {
	f.t.Helper()
	for _, shim := range f.processesOf("a", shimArg) {
		syscall.Kill(shim.PID, syscall.SIGSTOP)
		eventually(f.t, "the shim stops", func() bool {
			p, err := readProcess(shim.PID)
			return err != nil || p.Ticks != shim.Ticks || p.State == 'T' || p.dead()
		})
		all, err := processes()
		if err != nil {
			f.t.Fatal(err)
		}
		for _, p := range all {
			if args := procFile(p.PID, "cmdline"); p.PPID == shim.PID && (strings.Contains(args, standbyArg) || strings.Contains(args, shimArg)) {
				syscall.Kill(p.PID, syscall.SIGKILL)
				eventually(f.t, "the stand-in dies", func() bool { return !alive(p.PID, p.Ticks) })
			}
		}
		syscall.Kill(shim.PID, syscall.SIGKILL)
		eventually(f.t, "the shim dies", func() bool { return !alive(shim.PID, shim.Ticks) })
	}
}

// letEnd lets the command end, and waits for that.
func (f *failing) letEnd() {
	f.t.Helper()
	run, err := f.dir().readRun()
	if err != nil {
		f.t.Fatal(err)
	}
	f.touch("go")
	eventually(f.t, "the command ends", func() bool { return !alive(run.PID, run.StartTicks) })
}

// killAll kills agent, shim, command and whatever it left, in this order.
func (f *failing) killAll() {
	f.t.Helper()
	f.killAgent()
	f.killShims()
	run, err := f.dir().readRun()
	if err != nil {
		return
	}
	for _, p := range findTraces(f.dir(), run).living() {
		syscall.Kill(p.PID, syscall.SIGKILL)
		eventually(f.t, "the process dies", func() bool { return !alive(p.PID, p.Ticks) })
	}
}

// endParent ends the process that reaps nobody, whose children go to one that does.
func (f *failing) endParent() {
	f.parent.Process.Kill()
	_ = f.parent.Wait()
	run, err := f.dir().readRun()
	if err == nil && !inside() {
		eventually(f.t, "the command is reaped", func() bool {
			_, _ = syscall.Wait4(run.PID, nil, syscall.WNOHANG, nil) // it may have come to this process: see keepsEnds
			p, err := readProcess(run.PID)
			return err != nil || p.Ticks != run.StartTicks
		})
	}
}

func (f *failing) kill() {
	f.t.Helper()
	if err := f.Kill(context.Background(), testSession, "a", "user"); err != nil {
		f.t.Error(err)
	}
}

// reusePid gives the command's pid to another process: this one.
func (f *failing) reusePid() {
	f.t.Helper()
	run, err := f.dir().readRun()
	if err != nil {
		f.t.Fatal(err)
	}
	self, err := readProcess(os.Getpid())
	if err != nil {
		f.t.Fatal(err)
	}
	run.PID, run.StartTicks = self.PID, self.Ticks-1
	text, err := json.Marshal(run)
	if err == nil {
		err = os.WriteFile(f.dir().path(runName), text, 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// insideKey is set for tests that run in namespaces of their own.
const insideKey = "PERDURE_TEST_INSIDE"

func inside() bool { return os.Getenv(insideKey) != "" }

// initKey turns this test binary into the first process of its namespaces, which runs tests there and reaps nothing
// else.
const initKey = "PERDURE_TEST_INIT"

func initMain(tests string) {
	err := unix.Mount("proc", "/proc", "proc", 0, "")
	if err != nil {
		fmt.Println("no proc:", err)
		os.Exit(0)
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{os.Args[0], "-test.run", tests, "-test.v"}, &syscall.ProcAttr{
		Env: environWithout(initKey, insideKey+"=1"), Files: []uintptr{0, 1, 2},
	})
	var ws syscall.WaitStatus
	if err == nil {
		_, err = syscall.Wait4(pid, &ws, 0, nil)
	}
	if err != nil || ws.ExitStatus() != 0 {
		fmt.Println("inside:", err, ws.ExitStatus())
		os.Exit(1)
	}
	os.Exit(0)
}

// Goal: all of it holds in a container, too: processes are numbered anew, and the first one reaps nobody. There a disk
// can be filled as well. Where the system has no namespaces for ordinary users, the rows above have to do.
func TestContainer(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), initKey+"=^(TestFailures|TestFullDisk)$")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && len(out) == 0:
		needs.Not(t, "there are no namespaces here: %v", err)
	case strings.HasPrefix(string(out), "no proc:"):
		needs.Not(t, "%s", out)
	case err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk"):
		t.Errorf("%v\n%s", err, out)
	default:
		t.Logf("inside it took %v", time.Since(begin))
	}
}

// Goal: on a disk that is really full the command goes on, its code is recorded, and what is missing is told.
func TestFullDisk(t *testing.T) {
	if !inside() {
		return // TestContainer runs it where it may mount
	}
	b := newBench(t)
	const room, printed = 2 << 20, 8_000_000
	if err := unix.Mount("tmpfs", b.Dir, "tmpfs", 0, fmt.Sprintf("size=%d", room)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.Dir, unix.MNT_DETACH) })
	b.DiskFloor = -1
	st := b.run("a", fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; exit 7", printed))
	kept, gaps := int64(0), int64(0)
	for pos := int64(0); ; {
		chunk, next, gap, err := b.Read(testSession, "a", pos, 0)
		if err != nil {
			t.Fatal(err)
		}
		kept, gaps = kept+int64(len(chunk)), gaps+gap
		if next == pos {
			break
		}
		pos = next
	}
	if code(st) != "exited 7" || st.Output != printed || kept+gaps != printed || gaps < printed-room || kept == 0 {
		t.Errorf("%s, %d bytes printed, %d kept, %d told as missing\n%s", code(st), st.Output, kept, gaps, b.log("a"))
	}
}
