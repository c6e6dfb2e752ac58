package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// person is a person's terminal with the perdure command in it.
type person struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd
	shown  lockedBuffer
	before unix.Termios
	ended  chan struct{}
}

// sit starts a command line on a terminal of its own.
func (w *world) sit(cols, rows uint16, args ...string) *person {
	w.t.Helper()
	return w.sitTyped("", cols, rows, args...)
}

// sitTyped is sit on a terminal at which somebody has typed keys before the command was started.
func (w *world) sitTyped(keys string, cols, rows uint16, args ...string) *person {
	w.t.Helper()
	p := &person{t: w.t, ended: make(chan struct{})}
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	p.master = os.NewFile(uintptr(fd), "master")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		w.t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		w.t.Fatal(err)
	}
	if p.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		w.t.Fatal(err)
	}
	p.resize(cols, rows)
	p.before = p.modes()
	if keys != "" {
		p.types(keys)
	}
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	p.cmd = exec.Command(exe)
	p.cmd.Env = append(append([]string{}, w.app.Environ...), "CLI_TEST_ARGS="+strings.Join(args, "\n"), "GORACE=exitcode=0")
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = w.dir, p.slave, p.slave, p.slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := p.master.Read(b)
			if _, _ = p.shown.Write(b[:n]); err != nil {
				return
			}
		}
	}()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.slave.Close()
		p.master.Close()
		if w.t.Failed() {
			w.t.Logf("the terminal of %v shows %q", args, p.shown.String())
		}
	})
	return p
}

func (p *person) resize(cols, rows uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) modes() unix.Termios {
	p.t.Helper()
	m, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *m
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) sees(text string) {
	p.t.Helper()
	until(p.t, fmt.Sprintf("%q is shown", text), func() bool { return strings.Contains(p.shown.String(), text) })
}

// left demands that the command has ended with a code and left the terminal as it was.
func (p *person) left(code int) {
	p.t.Helper()
	until(p.t, "the command ends", func() bool {
		select {
		case <-p.ended:
			return true
		default:
			return false
		}
	})
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit %d, want %d", got, code)
	}
	if got := p.modes(); got != p.before {
		p.t.Errorf("the terminal is left as %+v, it was %+v", got, p.before)
	}
}

// echo is a program for a terminal: it tells its size when that changes, and each line that it gets. A shell that reads
// would tell only after the line.
const echo = `stty -echo; (trap 'stty size' WINCH; while :; do sleep 1000 & wait; done) </dev/tty & echo up
while read -r line; do case $line in end) exit 7;; full) printf '\033[?1049h\033[?25l'; seq 3000;; esac; echo "got $line"; done`

// Goal: two people see the same task and type into it, its terminal has the size of the one that changed last, and
// leaving, being killed or losing the shim leaves task and terminal as they should be.
func TestAttachTerminal(t *testing.T) {
	w := newWorld(t)
	w.ok("task", "run", "--name", "tui", "--tty", "--", "bash", "-c", echo)
	ann := w.sit(91, 31, "task", "attach", "tui")
	ann.sees("up")
	ann.sees("31 91")
	ann.types("one\r")
	ann.sees("got one")
	bob := w.sit(80, 20, "task", "attach", "tui", "bash_1", "--detach-keys", "ctrl-b,d")
	bob.sees("got one") // what was printed before
	bob.sees("20 80")
	bob.types("two\r")
	ann.sees("got two")
	ann.resize(70, 10)
	bob.sees("10 70")
	bob.types("\x02x\r")
	ann.sees("got \x02x")
	bob.types("\x02d")
	bob.left(0)
	bob.sees("runs on")

	ann.types("\x1c")
	ann.left(0)
	cal := w.sit(60, 15, "task", "attach", "tui")
	cal.sees("15 60")
	if err := cal.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-cal.ended
	dan := w.sit(61, 16, "task", "attach", "tui")
	dan.sees("16 61")
	dan.types("full\r")
	dan.sees("\x1b[?1049h")
	dan.sees("got full") // the task's screen begins before what the next one is shown of it
	if err := dan.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	dan.left(128 + int(syscall.SIGTERM))
	dan.sees("\x1b[?25h\x1b[?1049l") // the terminal's modes are put back too

	eve := w.sit(62, 17, "task", "attach", "tui")
	eve.sees("\x1b[?25l\x1b[?1049h") // and are the task's again
	eve.types("end\r")
	eve.left(7)
	eve.sees("exited 7")
	w.sit(62, 17, "task", "attach", "tui", "bash_1").left(7)
	w.fails(7, "exited 7", "task", "attach", "tui") // it is found by its name too, while no other has it
}

// Goal: the death of the shim hangs the task's terminal up; whoever is attached is told, with an exit code of its own.
func TestAttachWhileTheShimDies(t *testing.T) {
	w := newWorld(t)
	w.ok("task", "run", "--name", "tui", "--tty", "--", "sleep", "1000")
	ann := w.sit(80, 20, "task", "attach", "tui")
	ann.sees("leaves it")
	pid := int(w.taskLine("tui", "bash_1")["pid"].(float64))
	shim, _, err := parentAndArgs(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(shim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ann.left(128 + int(syscall.SIGHUP))
	ann.sees("killed SIGHUP by unknown")
}

// Goal: a task without a terminal is followed, gets lines if it has an input, and its end only from a person's own
// ctrl-d.
func TestAttachLines(t *testing.T) {
	w := newWorld(t)
	w.ok("task", "run", "--name", "cat", "--stdin", "--", "cat")
	w.app.Stdin = strings.NewReader("from a pipe\n")
	_, wait := w.start("task", "attach", "cat")
	until(t, "the line arrives", func() bool { return w.ok("task", "output", "cat", "bash_1") == "from a pipe\n" })
	ann := w.sit(80, 20, "task", "attach", "cat")
	ann.sees("from a pipe")
	ann.types("from ann\r")
	ann.sees("from ann\r\nfrom ann") // typed, and said by the task
	ann.types("\x1c")
	ann.left(0)
	bob := w.sit(80, 20, "task", "attach", "cat")
	bob.types("\x04")
	bob.left(0)
	bob.sees("exited 0")
	wait()

	w.ok("task", "run", "--name", "deaf", "--", "sleep", "1000")
	cal := w.sit(80, 20, "task", "attach", "deaf")
	cal.sees("has no input")
	cal.types("\x03")
	cal.left(0)
	cal.sees("detached: bash_1 runs on")
	w.ok("task", "kill", "deaf", "--all")
	w.ok("task", "run", "--name", "one", "--", "sleep", "1000")
	w.ok("task", "run", "--name", "two", "--", "sleep", "1000")
	w.fails(exitUsage, "name the session", "task", "attach", "bash_1")
	w.fails(exitUsage, "detach keys", "task", "attach", "one", "bash_1", "--detach-keys", "F1")
	w.fails(exitMissing, "bash_2", "task", "attach", "one", "bash_2")
	w.ok("task", "kill", "one", "bash_1")
	w.ok("task", "kill", "two", "bash_1")
}
