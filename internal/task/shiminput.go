//go:build linux || darwin

package task

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// input is the shim's side of what is written to a command.
type input struct {
	dir    actDir
	fd     int      // the FIFO, open for reading and writing, so that no end comes before it is asked for; -1 once closed
	fifo   *os.File // owns fd
	master *os.File // of the command's terminal, nil without one

	mu  sync.Mutex // guards the terminal's output
	out *output
	buf []byte
}

// openInput opens the FIFO for input, if the plan has one. A successor gets no terminal back: the kernel hung up.
func openInput(d actDir, plan execPlan, out *output) (*input, error) {
	in := &input{dir: d, fd: -1, out: out}
	if plan.Stdin == 0 && plan.Rows == 0 || d.has(inputEnd) {
		return in, nil
	}
	fd, err := openRetry(d.path(inputName), fifoOpenFlags|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", inputName, err)
	}
	in.fd, in.fifo = fd, os.NewFile(uintptr(fd), inputName)
	return in, nil
}

// forCommand returns the command's standard input.
func (in *input) forCommand() (*os.File, error) {
	if in.fd < 0 {
		return os.Open(os.DevNull)
	}
	fd, err := openRetry(in.dir.path(inputName), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), inputName), nil
}

// obey does what was asked for by files: to close the input, to change the terminal's size.
func (in *input) obey() {
	if in.master == nil && in.fd >= 0 && in.dir.has(inputEnd) {
		in.fifo.Close()
		in.fd = -1
	}
	text, err := readBounded(in.dir.path(sizeName))
	var size unix.Winsize
	if n, _ := fmt.Sscan(string(text), &size.Row, &size.Col); err != nil || n < 2 || in.master == nil {
		return
	}
	if err := unix.IoctlSetWinsize(int(in.master.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		complain("resize: %v", err)
	}
}

// serve carries input to the terminal and its output to the command's FIFO, until the terminal is gone.
func (in *input) serve() {
	if in.master == nil {
		return
	}
	go func() {
		buf := make([]byte, 4<<10)
		for {
			n, err := in.fifo.Read(buf)
			if err != nil {
				return
			}
			if _, err := in.master.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	go func() {
		c, err := in.master.SyscallConn()
		if err != nil {
			return
		}
		_ = c.Read(func(uintptr) bool { return in.drain() != unix.EAGAIN })
	}()
}

// drain moves what the terminal has printed into the command's FIFO.
func (in *input) drain() error {
	if in.master == nil {
		return nil
	}
	c, err := in.master.SyscallConn()
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.buf == nil {
		in.buf = make([]byte, 4<<10)
	}
	for {
		var n int
		_ = c.Control(func(fd uintptr) { n, err = readRetry(int(fd), in.buf) })
		if n <= 0 {
			return err // EIO when nobody has the terminal open any more
		}
		for b := in.buf[:n]; len(b) > 0; {
			m, err := unix.Write(in.out.fd, b)
			if err == unix.EAGAIN { // full: this process is the one that empties it
				if _, err := in.out.step(); err != nil && err != unix.EAGAIN {
					return err
				}
			} else if err != nil && err != unix.EINTR {
				return err
			}
			b = b[max(m, 0):]
		}
	}
}
