package tasks

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

func attachCommand(a *app.App) *cobra.Command {
	at := &attachment{app: a, screen: &screen{}}
	var keys string
	c := &cobra.Command{
		Use: "attach [SESSION] TASK", Short: "Look into a running task, and type into it",
		Long: "Shows what a task printed last and what it prints, and passes on what is typed, until it ends or the detach keys\n" +
			"are pressed (ctrl-\\ unless --detach-keys says otherwise). Needs no agent, and any number of people may do it at\n" +
			"once; what they type is kept in no log.\n\n" +
			"A task with --tty gets the whole terminal: every key, ctrl-c included, and its size; the newest size wins. Of\n" +
			"other tasks the output is followed and lines are sent, if they have an input; there ctrl-d ends their input, and\n" +
			"ctrl-c or ctrl-\\ leaves.\n\n" +
			"Without SESSION, TASK is an id or a name that one task of this home has, or one that runs.\n\n" +
			"Exits with 0 after a detach; when the task ends, with its exit code, with 128 and the signal's number, or with 1\n" +
			"where nobody knows.",
		Example: "  perdure task run --name repl --tty -- python3\n  perdure task attach repl",
		Args:    app.RangeArgs(1, 2, "a session and a task, or a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if at.keys, err = parseKeys(keys); err != nil {
				return err
			}
			return a.VerbWith(cmd, at.screen.restore, func(ctx context.Context, h *homes.Home) error {
				defer at.screen.restore()
				if at.runner = h.Commands(); at.runner == nil {
					return errors.New("this program cannot reach commands")
				}
				if at.task, err = namedTask(ctx, a, h, args); err != nil {
					return err
				}
				return at.run(ctx)
			})
		},
	}
	c.Flags().StringVar(&keys, "detach-keys", defaultDetach, "`KEYS` that leave the task alone, as in ctrl-b,d")
	return c
}

// attachment is one look into a task.
type attachment struct {
	app    *app.App
	screen *screen
	keys   []byte
	runner *task.Runner
	task   view.Task
	term   *task.Terminal
}

// errDetached says that the person has left.
var errDetached = errors.New("detached")

func (at *attachment) run(ctx context.Context) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	st, err := at.runner.Look(ctx, at.task.SessionID, at.task.Act)
	if err != nil {
		return err
	}
	from := at.recent(st.Output)
	if at.term, err = at.runner.Attach(ctx, at.task.SessionID, at.task.Act, from); err != nil {
		if errors.Is(err, task.ErrMissing) {
			return &app.ExitError{Code: app.ExitFailed, Text: "the output of task " + at.task.ID + " is gone with its directory"}
		}
		return err
	}
	ended := st.Status != command.Running && st.Stragglers == 0
	out := at.app.Stdout
	detach := func() { leave(errDetached) }
	if in, ok := at.app.Stdin.(*os.File); ok && at.app.Terminal && !ended {
		if err := at.enter(ctx, in, from); err != nil {
			return err
		}
		defer at.screen.watch(func() { at.resize(ctx, false) }, detach)()
		if at.task.TTY != nil {
			out = at.screen
		}
	}
	if !ended {
		go at.pass(ctx, detach)
	}
	_, err = io.Copy(out, at.term)
	at.screen.restore()
	switch {
	case errors.Is(context.Cause(ctx), errDetached), at.task.TTY == nil && interrupted(ctx):
		if at.task.TTY == nil {
			_, _ = io.WriteString(at.app.Stderr, "\n") // below what the terminal shows of the key
		}
		at.app.Note("detached: %s runs on", at.task.ID)
		at.app.Hint("perdure task attach %s %s", at.task.SessionID, at.task.ID)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	return at.over(context.WithoutCancel(ctx))
}

// interrupted says whether ctrl-c ended a context.
func interrupted(ctx context.Context) bool {
	var sig app.Caught
	return errors.As(context.Cause(ctx), &sig) && sig.Signal == os.Interrupt
}

// hello says how to leave.
func (at *attachment) hello() {
	switch {
	case at.task.TTY != nil:
		at.app.Note("attached to %s; %s leaves it", at.task.ID, at.keysWords())
	case at.task.Stdin:
		at.app.Note("attached to %s; lines are sent, ctrl-d ends its input, ctrl-c leaves it", at.task.ID)
	default:
		at.app.Note("attached to %s, which has no input; ctrl-c leaves it", at.task.ID)
	}
}

// over says how the task ended, and exits as it did.
func (at *attachment) over(ctx context.Context) error {
	st, err := at.runner.Look(ctx, at.task.SessionID, at.task.Act)
	if err != nil {
		return err
	}
	t := at.task
	t.Status, t.ExitCode, t.Signal, t.By, t.Reason, t.Stragglers = string(st.Status), st.ExitCode, st.Signal, st.By, st.Reason, 0
	at.app.Note("task %s of session %s: %s", t.ID, t.SessionID, display.TaskStatus(t))
	return app.Exit(taskCode(st.Status, st.ExitCode, st.Signal))
}
