package tasks

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/perdure/perdure/internal/command"
)

// screen is a person's terminal while a task's is shown on it. Whatever ends the command, it is put back.
type screen struct {
	mu     sync.Mutex
	in     *os.File
	out    io.Writer
	before *term.State // nil while it is an ordinary terminal
	modes  termModes
}

// open makes the terminal pass on every key. It fails if stdin is none.
func (s *screen) open(in *os.File, out io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := term.MakeRaw(int(in.Fd()))
	if err == nil {
		s.in, s.out, s.before = in, out, before
	}
	return err
}

// again makes it so once more, after it was stopped and went on.
func (s *screen) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before != nil {
		_, _ = term.MakeRaw(int(s.in.Fd()))
	}
}

// Write shows a task's output.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.modes.follow(b)
	s.mu.Unlock() // a terminal that takes nothing must not keep it from being put back
	return s.out.Write(b)
}

// restore puts the terminal back. A second call does nothing.
func (s *screen) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before == nil {
		return
	}
	_ = term.Restore(int(s.in.Fd()), s.before)
	s.before = nil
	_, _ = io.WriteString(s.out, s.modes.leave()+"\n")
}

// guard puts the terminal back before a panic of a goroutine ends the process.
func (s *screen) guard() {
	if p := recover(); p != nil {
		s.restore()
		panic(p)
	}
}

// size asks how large the terminal is.
func (s *screen) size() (command.TerminalSize, bool) {
	cols, rows, err := term.GetSize(int(s.in.Fd()))
	if err != nil || cols <= 0 || rows <= 0 || cols > 1<<15 || rows > 1<<15 {
		return command.TerminalSize{}, false
	}
	return command.TerminalSize{Rows: uint16(rows), Cols: uint16(cols)}, true
}

// keys reads what is typed and hands it on, until typed says to stop or ctx ends.
func (s *screen) keys(ctx context.Context, typed func([]byte) bool) error {
	const look = 100 * time.Millisecond // how late the end of ctx may be noticed
	b := make([]byte, 4096)
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(s.in.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(look.Milliseconds()))
		if n == 0 || err == unix.EINTR { //nolint:errorlint // a bare number of a system call
			continue
		}
		if err == nil {
			n, err = s.in.Read(b)
		}
		if n > 0 && !typed(b[:n]) {
			return nil
		}
		if err != nil || n == 0 {
			return io.EOF
		}
	}
	return ctx.Err()
}

// watch calls resized when the terminal's size changes, or when it was away for a while, and quit for the signal of
// the quit key. It returns what ends the watching.
func (s *screen) watch(resized, quit func()) (stop func()) {
	c, done := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(c, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGQUIT, syscall.SIGPIPE)
	var all sync.WaitGroup
	all.Go(func() {
		defer s.guard()
		for {
			select {
			case <-done:
				return
			case sig := <-c:
				switch sig {
				case syscall.SIGQUIT:
					quit()
				case syscall.SIGCONT:
					s.again()
					resized()
				case syscall.SIGWINCH:
					resized()
				}
			}
		}
	})
	return func() {
		signal.Stop(c)
		close(done)
		all.Wait()
	}
}
