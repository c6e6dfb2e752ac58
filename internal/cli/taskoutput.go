package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/task"
)

func (a *App) taskOutputCommand() *cobra.Command {
	o := &outputCopy{app: a}
	c := &cobra.Command{
		Use: "output ID TASK", Short: "Write what a task printed, byte for byte", Args: exactArgs(2, "a session and a task"),
		Long: "Write what is kept of a task's output to stdout, byte for byte. What is no longer kept is told by a line\n" +
			"[N bytes omitted] in its place.",
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				st, err := h.State(ctx, id)
				if err != nil {
					return err
				}
				t, err := findTask(h, st, args[1])
				if err != nil {
					return err
				}
				if o.runner = h.Commands(); o.runner == nil {
					return errors.New("this program cannot read outputs of commands")
				}
				o.task = t
				if err := o.choose(); err != nil {
					return err
				}
				return o.run(ctx)
			})
		},
	}
	c.Flags().IntVar(&o.attempt, "attempt", 0, "of this attempt, `N` from 1; left out: the newest")
	c.Flags().BoolVar(&o.raw, "raw", false, "tell omitted bytes on stderr only")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on until the task ends")
	return c
}

// outputCopy copies a task's output to stdout.
type outputCopy struct {
	app         *App
	raw, follow bool
	attempt     int
	runner      *task.Runner
	task        perdure.TaskView
	midline     bool // the byte written last was no newline
}

const (
	outputChunk = 1 << 20
	outputPoll  = 30 * time.Millisecond // as often a followed task is looked at
)

// choose finds the attempt that is meant. Earlier ones are kept under the same id.
func (o *outputCopy) choose() error {
	first := o.task.Attempt - len(o.task.Attempts)
	switch {
	case o.attempt == 0 || o.attempt == o.task.Attempt:
		return nil
	case o.attempt < first || o.attempt > o.task.Attempt:
		return &exitError{
			code: exitMissing, text: fmt.Sprintf("task %s has no attempt %d that is kept", o.task.ID, o.attempt),
			hint: fmt.Sprintf("there are %d to %d", first, o.task.Attempt),
		}
	}
	o.task.Act = o.task.Attempts[o.attempt-first].Act
	return nil
}

func (o *outputCopy) run(ctx context.Context) error {
	from := int64(0)
	for {
		// The state comes first: what was printed before the end that it tells is then read below.
		st, err := o.runner.State(o.task.SessionID, o.task.Act)
		if err != nil {
			return err
		}
		if from, err = o.copy(ctx, from); err != nil {
			if errors.Is(err, task.ErrMissing) {
				return &exitError{code: exitFailed, text: "the output of task " + o.task.ID + " is gone with its directory"}
			}
			return err
		}
		if !o.follow || st.Status != session.CommandRunning && st.Stragglers == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(outputPoll):
		}
	}
}

// copy writes what there is from an offset on and returns where to go on.
func (o *outputCopy) copy(ctx context.Context, from int64) (int64, error) {
	for ctx.Err() == nil {
		b, next, gap, err := o.runner.Read(o.task.SessionID, o.task.Act, from, outputChunk)
		if err != nil {
			return from, err
		}
		if next == from {
			return from, nil
		}
		if gap > 0 {
			if err := o.omitted(gap); err != nil {
				return from, err
			}
		}
		if len(b) > 0 {
			if _, err := o.app.Stdout.Write(b); err != nil {
				return from, err
			}
			o.midline = b[len(b)-1] != '\n'
		}
		from = next
	}
	return from, ctx.Err()
}

// omitted tells a gap on a line of its own.
func (o *outputCopy) omitted(n int64) error {
	text := fmt.Sprintf("[%d bytes omitted]\n", n)
	if o.raw {
		_, err := io.WriteString(o.app.Stderr, text)
		return err
	}
	if o.midline {
		text = "\n" + text
	}
	o.midline = false
	_, err := io.WriteString(o.app.Stdout, text)
	return err
}
