package app

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// Results is stdout: it remembers the first error of writing to it, so that a command whose result was lost does not
// end as if all were well, whatever became of the error on its way.
type Results struct {
	To  io.Writer
	mu  sync.Mutex
	err error
	// Hint says where the result is kept, if it is.
	Hint string
}

func (r *Results) Write(b []byte) (int, error) {
	n, err := r.To.Write(b)
	if err == nil {
		return n, nil
	}
	err = &UnwrittenError{cause: err}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// Lost is the first error, or nil.
func (r *Results) Lost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// UnwrittenError is an error of stdout. It hides its cause from the table of outcomes: a full disk under stdout is not
// the disk of the home.
type UnwrittenError struct{ cause error }

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("stdout: the result was not written: %v", CauseOf(e.cause))
}

// gone reports whether the reader of stdout went away, which is its right.
func (e *UnwrittenError) gone() bool { return errors.Is(e.cause, syscall.EPIPE) }

// CauseOf is an error without the system call and the path, which is always /dev/stdout.
func CauseOf(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// closedStdout stands for a stdout that the process was started without.
type closedStdout struct{}

func (closedStdout) Write([]byte) (int, error) { return 0, errors.New("it is closed") }

// ExitLost is the code of a command whose result was lost.
func ExitLost(err error) int {
	var e *UnwrittenError
	if errors.As(err, &e) && e.gone() {
		return 128 + int(syscall.SIGPIPE) // as if the signal had ended it, which it does where no session runs
	}
	return ExitFailed
}

// Underneath is the stream itself, for a library that asks it for more than to be written to.
func Underneath(w io.Writer) io.Writer {
	if r, ok := w.(*Results); ok {
		return r.To
	}
	return w
}
