package clitest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Person is a person's terminal with the perdure command in it.
type Person struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	Cmd    *exec.Cmd
	Shown  LockedBuffer
	before unix.Termios
	Ended  chan struct{}
	deaf   atomic.Bool
}

// Sit starts a command line on a terminal of its own.
func (w *World) Sit(cols, rows uint16, args ...string) *Person {
	w.T.Helper()
	return w.SitTyped("", cols, rows, args...)
}

// SitTyped is sit on a terminal at which somebody has typed keys before the command was started.
func (w *World) SitTyped(keys string, cols, rows uint16, args ...string) *Person {
	w.T.Helper()
	p := &Person{t: w.T, Ended: make(chan struct{})}
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		w.T.Fatal(err)
	}
	p.master = os.NewFile(uintptr(fd), "master")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		w.T.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		w.T.Fatal(err)
	}
	if p.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		w.T.Fatal(err)
	}
	p.Resize(cols, rows)
	p.before = p.modes()
	if keys != "" {
		p.Types(keys)
	}
	exe, err := os.Executable()
	if err != nil {
		w.T.Fatal(err)
	}
	p.Cmd = exec.Command(exe)
	p.Cmd.Env = append(append([]string{}, w.App.Environ...), "CLI_TEST_ARGS="+strings.Join(args, "\n"), "GORACE=exitcode=0")
	p.Cmd.Dir, p.Cmd.Stdin, p.Cmd.Stdout, p.Cmd.Stderr = w.Dir, p.slave, p.slave, p.slave
	p.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.Cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	go func() { _ = p.Cmd.Wait(); close(p.Ended) }()
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := p.master.Read(b)
			if _, _ = p.Shown.Write(b[:n]); err != nil || p.deaf.Load() {
				return
			}
		}
	}()
	w.T.Cleanup(func() {
		_ = p.Cmd.Process.Kill()
		<-p.Ended
		p.slave.Close()
		p.master.Close()
		if w.T.Failed() {
			w.T.Logf("the terminal of %v shows %q", args, p.Shown.String())
		}
	})
	return p
}

// Resize changes the size of the terminal.
func (p *Person) Resize(cols, rows uint16) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols}); err != nil {
		p.t.Fatal(err)
	}
}

// Deaf has nobody read what is shown any more, as on a connection that hangs, until the terminal takes nothing more.
// Whatever is in it draws anew at each size.
func (p *Person) Deaf() {
	p.t.Helper()
	p.deaf.Store(true)
	size := uint16(0)
	Until(p.t, "the terminal is full", func() bool {
		size = 1 - size
		p.Resize(200-size, 60-size)
		room := []unix.PollFd{{Fd: int32(p.slave.Fd()), Events: unix.POLLOUT}} //nolint:gosec // a descriptor is small
		n, err := unix.Poll(room, 20)
		return err == nil && n == 0
	})
}

func (p *Person) modes() unix.Termios {
	p.t.Helper()
	m, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return *m
}

// Types types keys.
func (p *Person) Types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// Sees waits until a text has been shown.
func (p *Person) Sees(text string) {
	p.t.Helper()
	Until(p.t, fmt.Sprintf("%q is shown", text), func() bool { return strings.Contains(p.Shown.String(), text) })
}

// Left demands that the command has ended with a code and left the terminal as it was.
func (p *Person) Left(code int) {
	p.t.Helper()
	Until(p.t, "the command ends", func() bool {
		select {
		case <-p.Ended:
			return true
		default:
			return false
		}
	})
	if got := p.Cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit %d, want %d", got, code)
	}
	if got := p.modes(); got != p.before {
		p.t.Errorf("the terminal is left as %+v, it was %+v", got, p.before)
	}
}
