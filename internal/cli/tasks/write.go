package tasks

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// taskWrite is what task write was asked for.
type taskWrite struct {
	eof, bare, json bool
}

func writeCommand(a *app.App) *cobra.Command {
	w := &taskWrite{}
	c := &cobra.Command{
		Use: "write [SESSION] TASK [TEXT|-]", Short: "Write to the input of a task",
		Long: "Writes a line to a task that was started with --stdin or --tty; - takes stdin as it is. The text is kept in the\n" +
			"session's log, before it is written: what must not be there is typed in with perdure task attach.\n" +
			"A task that has ended is told on stdout, and nothing is written. After a crash of whoever writes, the outcome is\n" +
			"unknown, and the text is not written again.",
		Example: "  perdure task write repl 'print(6*7)'\n  perdure task write SESSION bash_1 --eof",
		Args:    app.RangeArgs(1, 3, "a task, perhaps after its session, and perhaps a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				t, rest, err := taskAnd(ctx, a, h, args, true)
				if err != nil {
					return err
				}
				text, err := textToWrite(a, w, rest)
				if err != nil {
					return err
				}
				return writeTask(ctx, a, h, t, text, w)
			})
		},
	}
	c.Flags().BoolVar(&w.eof, "eof", false, "end the input after the text; on a terminal, type the end-of-file character")
	c.Flags().BoolVar(&w.bare, "no-newline", false, "add no newline to TEXT")
	c.Flags().BoolVar(&w.json, "json", false, "print one JSON object")
	return c
}

// textToWrite is what to write.
func textToWrite(a *app.App, w *taskWrite, args []string) ([]byte, error) {
	var text []byte
	switch {
	case len(args) == 0 && !w.eof:
		return nil, app.UsageError("write what? give a text, - for stdin, or --eof")
	case len(args) == 0:
		return nil, nil
	case args[0] != "-":
		text = []byte(args[0])
		if !w.bare {
			text = append(text, '\n')
		}
	default:
		var err error
		if text, err = io.ReadAll(io.LimitReader(a.Stdin, session.MaxInput+1)); err != nil {
			return nil, err
		}
	}
	if len(text) > session.MaxInput {
		return nil, app.UsageError("at most %d bytes can be written at once", session.MaxInput)
	}
	return text, nil
}

func writeTask(ctx context.Context, a *app.App, h *homes.Home, t view.Task, text []byte, w *taskWrite) error {
	id := t.SessionID
	if h.Hides(text) {
		return &app.ExitError{
			Code: app.ExitFailed, Text: "the text holds a known secret, which the log must not keep; nothing was written",
			Hint: "type it in: perdure task attach " + id + " " + t.ID,
		}
	}
	var done view.Written
	err := a.Within(ctx, h, id, app.Patience, func(ctx context.Context) (err error) {
		done, err = h.Tasks().Write(ctx, t, text, w.eof)
		return err
	})
	if err != nil {
		return err
	}
	return tellWritten(ctx, a, h, id, t.ID, done, w.json)
}

// tellWritten says what became of a write. That a task has ended is a result like any other.
func tellWritten(ctx context.Context, a *app.App, h *homes.Home, id, name string, done view.Written, asJSON bool) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	t, err := findTask(a, h, st, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.JSON(struct {
			view.Task
			Outcome string `json:"outcome"`
			Written int64  `json:"written_bytes"`
		}{t, done.Outcome, done.Bytes})
	}
	text := fmt.Sprintf("session %s: task %s: %s written: %s", id, name, display.Count(done.Bytes, "byte"), done.Reason)
	switch session.InputOutcome(done.Outcome) {
	case session.InputTaken:
		a.Note("%s: %s written", display.Called(t), display.Count(done.Bytes, "byte"))
		return nil
	case session.InputEnded:
		a.Linef("%s has ended: %s; nothing was written", name, display.TaskStatus(t))
		return nil
	case session.InputClosed:
		return &app.ExitError{Code: app.ExitFailed, Text: "task " + name + " has no open input", Hint: "one that is started with --stdin or --tty has"}
	case session.InputFull:
		return &app.ExitError{Code: app.ExitFailed, Text: text, Hint: "write the rest when it reads again"}
	case session.InputUnknown:
	}
	return &app.ExitError{Code: app.ExitFailed, Text: text, Hint: "look at its output before you write it again: perdure task output " + id + " " + name}
}
