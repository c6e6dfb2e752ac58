//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"io"

	"github.com/perdure/perdure/internal/command"
)

// Terminal is one look into a command, for a person's terminal or a stream: what it prints from some offset on, and its
// input. Any number of them may look into the same command, from any process; each has its own place. It is not safe
// for concurrent reads; a read and a write may happen at once.
type Terminal struct {
	ctx     context.Context
	runner  *Runner
	session string
	act     string
	offset  int64
	rest    []byte
	gap     int64
}

// Attach looks into a command from the absolute offset from on. Negative offsets count from the end, which is -1. It
// adopts an orphan. ctx bounds reads and writes.
func (r *Runner) Attach(ctx context.Context, sessionID, act string, from int64) (*Terminal, error) {
	st, err := r.Look(ctx, sessionID, act)
	if err != nil {
		return nil, err
	}
	if st.Reason == command.ReasonDirMissing {
		return nil, ErrMissing
	}
	if from < 0 {
		from = max(st.Output+1+from, 0)
	}
	return &Terminal{ctx: ctx, runner: r, session: sessionID, act: act, offset: from}, nil
}

// Read waits for output. It returns io.EOF once the command has ended, its stragglers too, and all was read, and ctx's
// error when that comes first. What is no longer kept is skipped; Gap counts it.
func (t *Terminal) Read(p []byte) (int, error) {
	for wait := newPoller(t.ctx); len(t.rest) == 0; {
		st, err := t.runner.Look(t.ctx, t.session, t.act) // before the read: what it printed is there once it is over
		if err != nil {
			return 0, err
		}
		b, next, gap, err := t.runner.Read(t.session, t.act, t.offset, 0)
		if err != nil {
			return 0, err
		}
		t.rest, t.offset, t.gap = b, next, t.gap+gap
		if len(b) > 0 {
			break
		}
		if st.Status != command.Running && st.Stragglers == 0 {
			return 0, io.EOF
		}
		if err := wait.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// Offset returns the absolute position of the next byte that Read will return.
func (t *Terminal) Offset() int64 { return t.offset - int64(len(t.rest)) }

// Gap returns how many bytes Read has skipped so far.
func (t *Terminal) Gap() int64 { return t.gap }

// Write types. It waits for room as long as ctx allows.
func (t *Terminal) Write(p []byte) (int, error) {
	done := 0
	for wait := newPoller(t.ctx); done < len(p); {
		n, err := t.runner.WriteStdin(t.session, t.act, p[done:])
		if done += n; err == nil {
			continue
		}
		if !errors.Is(err, command.ErrInputFull) {
			return done, err
		}
		if err := wait.next(); err != nil {
			return done, err
		}
	}
	return done, nil
}

// Resize tells the command's terminal its size.
func (t *Terminal) Resize(size command.TerminalSize) error {
	return t.runner.Resize(t.session, t.act, size)
}
