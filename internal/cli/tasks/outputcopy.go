package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

const (
	outputChunk = 1 << 20
	outputPoll  = 30 * time.Millisecond // as often a followed task is looked at
)

// outputCopy copies a task's output to stdout.
type outputCopy struct {
	runner *task.Runner
	task   view.Task
	opt    *outputOptions
	reader *homes.Reader // nil: nobody's place moves
	lines  *lineFilter   // nil: every byte is wanted
	sink   outputSink
	from   int64 // read and handed on up to here
	told   bool  // that output may be missing was told
}

// outputOf writes the output of one task.
func outputOf(ctx context.Context, a *app.App, h *homes.Home, t view.Task, opt *outputOptions) error {
	t, err := chooseAttempt(t, opt.attempt)
	if err != nil {
		return err
	}
	o := &outputCopy{runner: h.Commands(), task: t, opt: opt, sink: newOutputSink(a, t, opt)}
	if opt.match != nil {
		o.lines = &lineFilter{match: opt.match, sink: o.sink}
	}
	if opt.news {
		if o.reader, err = h.Tasks().Reader(ctx, t.SessionID, t.ID, readerName(a, opt.reader)); err != nil {
			return err
		}
		o.from = o.reader.Position()
	}
	if opt.tail >= 0 {
		o.from, err = tailOffset(o.runner, t, o.from, opt.tail)
	}
	if err == nil {
		err = o.run(ctx)
	}
	if errors.Is(err, task.ErrMissing) {
		err = &app.ExitError{Code: app.ExitFailed, Text: "the output of task " + t.ID + " is gone with its directory"}
	}
	return errors.Join(err, o.sink.close())
}

// readerName is who reads here: the terminal, unless a name is given.
func readerName(a *app.App, given string) string {
	switch {
	case given != "":
		return given
	case a.TTY != "":
		return "tty:" + a.TTY
	}
	return "cli"
}

func (o *outputCopy) run(ctx context.Context) error {
	for {
		// The state comes first: what was printed before the end that it tells is then read below.
		st, err := o.runner.State(o.task.SessionID, o.task.Act)
		if err != nil {
			return err
		}
		if err := o.copy(ctx); err != nil {
			return err
		}
		done := over(st)
		if o.lines != nil && (done || !o.opt.follow && o.reader == nil) {
			if err := o.lines.flush(); err != nil {
				return err
			}
		}
		if err := o.commit(ctx); err != nil {
			return err
		}
		if m := st.MissingAfter; m != nil && !o.told {
			o.told = true
			if err := o.sink.missing(st); err != nil {
				return err
			}
		}
		if !o.opt.follow || done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(outputPoll):
		}
	}
}

// commit moves the reader's place behind what has been written. The line whose end has not come is left for the next
// time.
func (o *outputCopy) commit(ctx context.Context) error {
	if o.reader == nil {
		return nil
	}
	seen := o.from
	if o.lines != nil {
		seen -= int64(len(o.lines.carry))
	}
	o.reader.MoveTo(seen)
	return o.reader.Commit(context.WithoutCancel(ctx)) // it was written: a signal does not make it unseen
}

// copy writes what there is.
func (o *outputCopy) copy(ctx context.Context) error {
	for ctx.Err() == nil {
		b, next, gap, err := o.runner.Read(o.task.SessionID, o.task.Act, o.from, outputChunk)
		if err != nil {
			return err
		}
		if next == o.from {
			return nil
		}
		at := o.from + gap
		if o.lines != nil {
			err = o.lines.write(b, at, gap)
		} else if err = tellGap(o.sink, gap); err == nil && len(b) > 0 {
			err = o.sink.write(b, at)
		}
		if err != nil {
			return err
		}
		o.from = next
	}
	return errors.Join(ctx.Err(), o.commit(ctx))
}

func tellGap(sink outputSink, n int64) error {
	if n <= 0 {
		return nil
	}
	return sink.gap(n)
}
