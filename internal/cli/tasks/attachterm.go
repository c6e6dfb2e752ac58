package tasks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/task"
)

// recentOutput is how much of what was printed before is shown to who attaches, in bytes.
const recentOutput = 8 << 10

// recent is the offset from which on a task's output is shown: some lines back, whole ones if there are any.
func (at *attachment) recent(end int64) int64 {
	from := max(0, end-recentOutput)
	if from == 0 {
		return 0
	}
	b, next, _, err := at.runner.Read(at.task.SessionID, at.task.Act, from, recentOutput)
	if err != nil {
		return from
	}
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return next - int64(len(b)) + int64(i) + 1
	}
	return from
}

// enter takes the person's terminal over: keys are passed on as they are typed, and the program's modes hold for it. A
// task without a terminal of its own leaves it as it is.
func (at *attachment) enter(ctx context.Context, in *os.File, from int64) error {
	at.hello()
	if at.task.TTY == nil {
		at.screen.in = in
		return nil
	}
	modes, err := at.modesBefore(ctx, from)
	if err != nil {
		return err
	}
	at.screen.modes = modes
	if err := at.screen.open(in, at.app.Stdout); err != nil {
		return err
	}
	if _, err := io.WriteString(at.app.Stdout, modes.enter()); err != nil {
		return err
	}
	at.resize(ctx, true)
	return nil
}

// modesBefore follows what is kept of the output before an offset.
func (at *attachment) modesBefore(ctx context.Context, end int64) (m termModes, err error) {
	for from := int64(0); from < end && ctx.Err() == nil; {
		b, next, _, err := at.runner.Read(at.task.SessionID, at.task.Act, from, int(min(end-from, outputChunk)))
		if errors.Is(err, task.ErrMissing) || err == nil && next == from {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		m.follow(b[:max(0, len(b)-int(max(0, next-end)))])
		from = next
	}
	return m, ctx.Err()
}

// redrawPause is how long a task has to see one size before it is told the next.
const redrawPause = 50 * time.Millisecond

// resize gives the task the size of the person's terminal. redraw also makes a program draw its screen that sees no
// reason to, because the size is what it was.
func (at *attachment) resize(ctx context.Context, redraw bool) {
	size, ok := at.screen.size()
	if !ok || at.task.TTY == nil {
		return
	}
	if redraw && size.Rows > 1 {
		other := size
		other.Rows--
		_ = at.term.Resize(other)
		select {
		case <-ctx.Done():
		case <-time.After(redrawPause):
		}
	}
	// A task that has ended needs no size; whatever else is wrong shows at the next write.
	_ = at.term.Resize(size)
}

// pass passes on what is typed until the detach keys are, or there is nothing more.
func (at *attachment) pass(ctx context.Context, detach func()) {
	defer at.screen.guard()
	if at.task.TTY == nil && !at.task.Stdin {
		return
	}
	keys := &detachKeys{keys: at.keys}
	write := func(b []byte) bool {
		_, err := at.term.Write(b)
		return err == nil || errors.Is(err, command.ErrInputFull)
	}
	if at.screen.in == nil { // a pipe or a file; its end says nothing about the task's input
		_, _ = io.Copy(writer(write), at.app.Stdin)
		return
	}
	if at.task.TTY == nil {
		if errors.Is(at.screen.keys(ctx, write), io.EOF) {
			_ = at.runner.CloseStdin(at.task.SessionID, at.task.Act)
		}
		return
	}
	err := at.screen.keys(ctx, func(b []byte) bool {
		text, gone := keys.typed(b)
		if gone {
			_ = write(text)
			detach()
			return false
		}
		return len(text) == 0 || write(text)
	})
	if errors.Is(err, io.EOF) { // the terminal is gone
		detach()
	}
}

// writer makes an io.Writer of a function that says whether to go on.
type writer func([]byte) bool

func (w writer) Write(b []byte) (int, error) {
	if !w(b) {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// keysWords names the detach keys.
func (at *attachment) keysWords() string {
	names := make([]string, len(at.keys))
	for i, k := range at.keys {
		if names[i] = string(rune(k)); k < ' ' {
			names[i] = "ctrl-" + strings.ToLower(string(rune(k|0x40)))
		}
	}
	return strings.Join(names, " ")
}
