//go:build linux || darwin

package task

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Input arrives in order, its end when it is asked for, and what can't be taken is said.
func TestStdin(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "while read -r line; do echo \"got $line\"; done; echo end; cat; exit 7")
	spec.Stdin = true
	b.start(spec)
	for _, line := range []string{"one\n", "two\n"} {
		if n, err := b.WriteStdin(testSession, "a", []byte(line)); n != len(line) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	eventually(t, "the input arrives", func() bool { return strings.Contains(b.output("a"), "two") })
	for range 2 {
		if err := b.CloseStdin(testSession, "a"); err != nil && !errors.Is(err, command.ErrEnded) {
			t.Error(err)
		}
	}
	if st := b.wait("a"); code(st) != "exited 7" || b.output("a") != "got one\ngot two\nend\n" {
		t.Errorf("%s, %q", code(st), b.output("a"))
	}
	if _, err := b.WriteStdin(testSession, "a", []byte("x")); !errors.Is(err, command.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}

	b.start(b.script("none", "cat; sleep 60"))
	if _, err := b.WriteStdin(testSession, "none", []byte("x")); !errors.Is(err, command.ErrNoInput) {
		t.Errorf("without input: %v", err)
	}
	if err := b.CloseStdin(testSession, "none"); !errors.Is(err, command.ErrNoInput) {
		t.Errorf("without input: %v", err)
	}
	spec = b.script("deaf", "sleep 60")
	spec.Stdin = true
	b.start(spec)
	n, err := b.WriteStdin(testSession, "deaf", make([]byte, 100_000))
	m, err2 := b.WriteStdin(testSession, "deaf", make([]byte, 100_000))
	if n != maxInput || m != 0 || !errors.Is(err, command.ErrInputFull) || !errors.Is(err2, command.ErrInputFull) {
		t.Errorf("deaf: %d, %v, %d, %v", n, err, m, err2)
	}
	if _, err := b.WriteStdin(testSession, "nobody", nil); !errors.Is(err, ErrMissing) {
		t.Errorf("unknown: %v", err)
	}
}

// A command on a terminal knows that it has one, of the right size, is typed to, and is told when the size changes.
func TestTerminal(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "tty >/dev/null && echo yes; stty size; ps -o tpgid= -p $$; trap 'stty size' WINCH; echo ready; "+
		"while read -r line; do echo \"got $line\"; done; echo end")
	spec.TTY = &command.TerminalSize{Rows: 40, Cols: 120}
	b.start(spec)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	term, err := b.Attach(ctx, testSession, "a", 0)
	if err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	until := func(text string) {
		t.Helper()
		for buf := make([]byte, 100); !strings.Contains(seen.String(), text); {
			n, err := term.Read(buf)
			if seen.Write(buf[:n]); err != nil {
				t.Fatalf("waiting for %q: %v, %q", text, err, seen.String())
			}
		}
	}
	until("yes\r\n40 120\r\n")
	until(strconv.Itoa(b.state("a").PID) + "\r\nready\r\n")
	if err := term.Resize(command.TerminalSize{Rows: 10, Cols: 20}); err != nil {
		t.Error(err)
	}
	// The size arrives when the shim gets to it, and bash runs the trap after a read: lines are sent until it has.
	resized := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			if _, err := term.Write([]byte("hello\n")); err != nil {
				t.Error(err)
			}
			select {
			case <-resized:
				return
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	until("10 20\r\n")
	close(resized)
	writer.Wait()
	until("got hello\r\n")
	if err := b.CloseStdin(testSession, "a"); err != nil {
		t.Error(err)
	}
	until("end\r\n")
	if n, err := term.Read(make([]byte, 10)); n != 0 || err != io.EOF || term.Offset() != b.state("a").Output || term.Gap() != 0 {
		t.Errorf("%d, %v, at %d of %d", n, err, term.Offset(), b.state("a").Output)
	}
	if st := b.wait("a"); code(st) != "exited 0" {
		t.Errorf("%s", code(st))
	}
	if n, err := term.Write([]byte("late")); n != 0 || !errors.Is(err, command.ErrEnded) {
		t.Errorf("written after the end: %d, %v", n, err)
	}
	if late, err := b.Attach(ctx, testSession, "a", -6); err != nil {
		t.Error(err)
	} else if text, err := io.ReadAll(late); string(text) != "end\r\n" || err != nil {
		t.Errorf("the last bytes: %q, %v", text, err)
	}
}

// Nothing that a terminal prints on its way out is missing, however much it is; and the death of the shim hangs up,
// which is told as it was.
func TestTerminalEnd(t *testing.T) {
	b := newBench(t)
	spec := b.script("a", "stty -onlcr; seq 1 20000; exit 3")
	spec.TTY = &command.TerminalSize{Rows: 24, Cols: 80}
	b.start(spec)
	if st := b.wait("a"); code(st) != "exited 3" || b.output("a") != sequence(20000) {
		t.Errorf("%s, %d bytes", code(st), st.Output)
	}
	spec = b.script("b", "echo up; sleep 60")
	spec.TTY = &command.TerminalSize{Rows: 24, Cols: 80}
	b.start(spec)
	eventually(t, "it is up", func() bool { return b.output("b") != "" })
	b.killShim("b")
	if st := b.wait("b"); code(st) != "killed SIGHUP by unknown" {
		t.Errorf("%s", code(st))
	}
}

// memoryBound demands a bound of 1 GiB, of each process or of a group.
const memoryBound = `[ $(ulimit -v) = 1048576 ] || [ $(cat /sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max) = 1073741824 ]; exit $?`

// Limits bind the command and are told as what they are.
func TestLimits(t *testing.T) {
	b := newBench(t)
	type limited struct {
		limits       command.Limits
		script, want string
	}
	table := map[string]limited{
		"cpu":    {command.Limits{CPUSeconds: 1}, "while :; do :; done", "killed SIGXCPU by limit (cpu)"},
		"files":  {command.Limits{OpenFiles: 10}, "[ $(ulimit -n) = 10 ]; exit $?", "exited 0"},
		"memory": {command.Limits{MemoryBytes: 1 << 30}, memoryBound, "exited 0"},
		"wall":   {command.Limits{WallMS: 200}, "sleep 60", "killed SIGTERM by limit (wall)"},
	}
	if os.Getenv("PERDURE_SOAK") == "1" { // it takes seconds of processor time
		table["stubborn"] = limited{command.Limits{CPUSeconds: 1}, "trap '' XCPU; while :; do :; done", "killed SIGKILL by limit (cpu)"}
	}
	for act, c := range table {
		spec := b.script(act, c.script)
		spec.Limits = c.limits
		b.start(spec)
	}
	if err := b.Detach(testSession, "cpu"); err != nil { // a limit is no timeout
		t.Error(err)
	}
	for act, c := range table {
		if st := b.wait(act); code(st) != c.want {
			t.Errorf("%s: %s, want %s", act, code(st), c.want)
		}
	}
	bad := b.script("bad", "true")
	bad.Limits.OpenFiles = -1
	if err := b.Start(context.Background(), bad); !errors.Is(err, ErrInvalid) {
		t.Errorf("negative: %v", err)
	}
}

// A command that was sent to the background has no timeout, also under a replacement shim.
func TestDetach(t *testing.T) {
	b := newBench(t)
	for _, act := range []string{"a", "b", "c"} {
		spec := b.script(act, "echo up; "+untilGo+"exit 5")
		spec.TimeoutMS = 700
		b.start(spec)
		if act != "c" {
			if err := b.Detach(testSession, act); err != nil {
				t.Error(err)
			}
		}
	}
	b.killShim("b")
	if st := b.wait("c"); code(st) != "killed SIGTERM by timeout" {
		t.Errorf("c: %s", code(st))
	}
	b.touch("go")
	for _, act := range []string{"a", "b"} {
		if st := b.wait(act); code(st) != "exited 5" {
			t.Errorf("%s: %s", act, code(st))
		}
	}
	if err := b.Detach(testSession, "a"); !errors.Is(err, command.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// Many are killed at once, in the time that the slowest takes.
func TestKillAll(t *testing.T) {
	b := newBench(t)
	var targets []Target
	for i := range 6 {
		act := "n" + strconv.Itoa(i)
		b.start(b.script(act, "trap '' TERM; echo up; while :; do sleep 60; done"))
		targets = append(targets, Target{testSession, act})
	}
	for _, target := range targets {
		eventually(t, "it is up", func() bool { return b.output(target.Act) != "" })
	}
	begin := time.Now()
	errs := b.KillAll(context.Background(), append(targets, Target{testSession, "none"}), "user")
	if took := time.Since(begin); took > 4*b.Grace+2*time.Second {
		t.Errorf("took %v", took)
	}
	for i, err := range errs {
		if i < len(targets) && err != nil || i == len(targets) && !errors.Is(err, ErrMissing) {
			t.Errorf("%d: %v", i, err)
		}
	}
	for _, target := range targets {
		if st := b.state(target.Act); code(st) != "killed SIGKILL by user" {
			t.Errorf("%s: %s", target.Act, code(st))
		}
	}
}
