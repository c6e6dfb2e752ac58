package tasks_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/process"
)

// echo is a program for a terminal: it tells its size when that changes, and each line that it gets. A shell that reads
// would tell only after the line.
const echo = `stty -echo; (trap 'stty size' WINCH; while :; do sleep 1000 & wait; done) </dev/tty & echo up
while read -r line; do case $line in end) exit 7;; full) printf '\033[?1049h\033[?25l'; seq 3000;; esac; echo "got $line"; done`

// Goal: two people see the same task and type into it, its terminal has the size of the one that changed last, and
// leaving, being killed or losing the shim leaves task and terminal as they should be.
func TestAttachTerminal(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "tui", "--tty", "--", "bash", "-c", echo)
	ann := w.Sit(91, 31, "task", "attach", "tui")
	ann.Sees("up")
	ann.Sees("31 91")
	ann.Types("one\r")
	ann.Sees("got one")
	bob := w.Sit(80, 20, "task", "attach", "tui", "bash_1", "--detach-keys", "ctrl-b,d")
	bob.Sees("got one") // what was printed before
	bob.Sees("20 80")
	bob.Types("two\r")
	ann.Sees("got two")
	ann.Resize(70, 10)
	bob.Sees("10 70")
	bob.Types("\x02x\r")
	ann.Sees("got \x02x")
	bob.Types("\x02d")
	bob.Left(0)
	bob.Sees("runs on")

	ann.Types("\x1c")
	ann.Left(0)
	cal := w.Sit(60, 15, "task", "attach", "tui")
	cal.Sees("15 60")
	if err := cal.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-cal.Ended
	dan := w.Sit(61, 16, "task", "attach", "tui")
	dan.Sees("16 61")
	dan.Types("full\r")
	dan.Sees("\x1b[?1049h")
	dan.Sees("got full") // the task's screen begins before what the next one is shown of it
	if err := dan.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	dan.Left(128 + int(syscall.SIGTERM))
	dan.Sees("\x1b[?25h\x1b[?1049l") // the terminal's modes are put back too

	eve := w.Sit(62, 17, "task", "attach", "tui")
	eve.Sees("\x1b[?25l\x1b[?1049h") // and are the task's again
	eve.Types("end\r")
	eve.Left(7)
	eve.Sees("exited 7")
	w.Sit(62, 17, "task", "attach", "tui", "bash_1").Left(7)
	w.Fails(7, "exited 7", "task", "attach", "tui") // it is found by its name too, while no other has it
}

// Goal: the death of the shim hangs the task's terminal up; whoever is attached is told, with an exit code of its own.
func TestAttachWhileTheShimDies(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "tui", "--tty", "--", "sleep", "1000")
	ann := w.Sit(80, 20, "task", "attach", "tui")
	ann.Sees("leaves it")
	pid := int(w.TaskLine("tui", "bash_1")["pid"].(float64))
	shim, _, err := process.ParentAndArgs(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(shim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ann.Left(128 + int(syscall.SIGHUP))
	ann.Sees("killed SIGHUP by unknown")
}

// Goal: a task without a terminal is followed, gets lines if it has an input, and its end only from a person's own
// ctrl-d.
func TestAttachLines(t *testing.T) {
	w := clitest.New(t)
	w.OK("task", "run", "--name", "cat", "--stdin", "--", "cat")
	w.App.Stdin = strings.NewReader("from a pipe\n")
	_, wait := w.Start("task", "attach", "cat")
	clitest.Until(t, "the line arrives", func() bool { return w.OK("task", "output", "cat", "bash_1") == "from a pipe\n" })
	ann := w.Sit(80, 20, "task", "attach", "cat")
	ann.Sees("from a pipe")
	ann.Types("from ann\r")
	ann.Sees("from ann\r\nfrom ann") // typed, and said by the task
	ann.Types("\x1c")
	ann.Left(0)
	bob := w.Sit(80, 20, "task", "attach", "cat")
	bob.Types("\x04")
	bob.Left(0)
	bob.Sees("exited 0")
	wait()

	w.OK("task", "run", "--name", "deaf", "--", "sleep", "1000")
	cal := w.Sit(80, 20, "task", "attach", "deaf")
	cal.Sees("has no input")
	cal.Types("\x03")
	cal.Left(0)
	cal.Sees("detached: bash_1 runs on")
	w.OK("task", "kill", "deaf", "--all")
	w.OK("task", "run", "--name", "one", "--", "sleep", "1000")
	w.OK("task", "run", "--name", "two", "--", "sleep", "1000")
	w.Fails(app.ExitUsage, "name the session", "task", "attach", "bash_1")
	w.Fails(app.ExitUsage, "detach keys", "task", "attach", "one", "bash_1", "--detach-keys", "F1")
	w.Fails(app.ExitMissing, "bash_2", "task", "attach", "one", "bash_2")
	w.OK("task", "kill", "one", "bash_1")
	w.OK("task", "kill", "two", "bash_1")
}
