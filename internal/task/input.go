//go:build linux || darwin

package task

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// maxInput bounds one WriteStdin, in bytes: what a FIFO holds by default.
const maxInput = 64 << 10

// WriteStdin gives a running command input and returns how many bytes were taken; they wait in a buffer of 64 KiB until
// the command reads them. It never blocks: ErrInputFull says that not all of b found room, and the caller may offer the
// rest later. ErrNoInput says that the command was started without command.Spec.Stdin and TTY or that CloseStdin was
// called, command.ErrEnded that the command is over.
//
// Without a terminal the shim's death closes the input: a command sees the end of it unless it reads on after a
// replacement has come.
func (r *Runner) WriteStdin(sessionID, act string, b []byte) (int, error) {
	d, err := r.running(sessionID, act)
	if err != nil {
		return 0, err
	}
	n, err := d.writeInput(b)
	if err != nil {
		return n, fmt.Errorf("write to %s/%s: %w", sessionID, act, err)
	}
	return n, nil
}

func (d actDir) writeInput(b []byte) (int, error) {
	if d.has(inputEnd) {
		return 0, command.ErrNoInput
	}
	// Reading as well, so that the open succeeds even in the moment in which the command has no shim.
	fd, err := openRetry(d.path(inputName), unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return 0, command.ErrNoInput
	}
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	taken := 0
	for taken < min(len(b), maxInput) {
		n, err := unix.Write(fd, b[taken:min(len(b), maxInput)])
		switch err {
		case nil:
			taken += n
		case unix.EINTR:
		case unix.EAGAIN:
			return taken, command.ErrInputFull
		default:
			return taken, err
		}
	}
	if taken < len(b) {
		return taken, command.ErrInputFull
	}
	return taken, nil
}

// CloseStdin ends a command's input after what was written before. On a terminal it types the end-of-file character,
// and more can be written. Closing twice is no error.
func (r *Runner) CloseStdin(sessionID, act string) error {
	d, err := r.running(sessionID, act)
	if err != nil {
		return err
	}
	plan, err := d.readPlan()
	switch {
	case err != nil:
	case plan.Rows > 0:
		_, err = d.writeInput([]byte{4})
	case plan.Stdin == 0:
		err = command.ErrNoInput
	default:
		if err = writeFile(d.path(inputEnd), nil, false); err == nil {
			d.tellShim()
		}
	}
	if err != nil {
		return fmt.Errorf("close input of %s/%s: %w", sessionID, act, err)
	}
	return nil
}

// Resize changes the size of a command's terminal, which is told by SIGWINCH.
func (r *Runner) Resize(sessionID, act string, size command.TerminalSize) error {
	d, err := r.running(sessionID, act)
	if err == nil {
		err = writeFile(d.path(sizeName), fmt.Appendf(nil, "%d %d\n", size.Rows, size.Cols), false)
	}
	if err != nil {
		return fmt.Errorf("resize %s/%s: %w", sessionID, act, err)
	}
	d.tellShim()
	return nil
}

// Detach sends a foreground command to the background: its timeout no longer holds, command.Limits.WallMS does. The
// command does not notice.
func (r *Runner) Detach(sessionID, act string) error {
	d, err := r.running(sessionID, act)
	if err == nil {
		err = writeFile(d.path(detachName), nil, false)
	}
	if err != nil {
		return fmt.Errorf("detach %s/%s: %w", sessionID, act, err)
	}
	d.tellShim()
	return nil
}

// running returns the directory of a command that runs, or command.ErrEnded.
func (r *Runner) running(sessionID, act string) (actDir, error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return "", err
	}
	v, err := r.look(d)
	switch {
	case err != nil:
		return "", fmt.Errorf("state of %s/%s: %w", sessionID, act, err)
	case v.Reason == command.ReasonDirMissing:
		return "", fmt.Errorf("command %s/%s: %w", sessionID, act, ErrMissing)
	case v.Status != command.Running:
		return "", fmt.Errorf("command %s/%s: %w", sessionID, act, command.ErrEnded)
	}
	return d, nil
}

// tellShim makes the shim look at what was asked of it. One that is not there yet, or any more, or has just come, looks
// by itself.
func (d actDir) tellShim() {
	if shim, ok := d.shim(); ok {
		signalProcess(shim.PID, shim.Ticks, unix.SIGUSR2)
	}
}

func (d actDir) has(name string) bool {
	var info unix.Stat_t
	return unix.Stat(d.path(name), &info) == nil
}
