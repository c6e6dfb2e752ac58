package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

func backgroundCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "background ID [ACT]", Short: "Send the command that a session waits for to the background",
		Long: "Sends a command that runs in the foreground of a session to the background: the agent stops waiting for it and\n" +
			"is told so, its timeout no longer holds, and it goes on as a task. Where several run, ACT names one; perdure show\n" +
			"lists them. It works while perdure -p runs the session, and when nobody does.",
		Example: "  perdure task background 0198c3",
		Args:    app.RangeArgs(1, 2, "a session, and perhaps one of its acts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				act := ""
				if len(args) > 1 {
					act = args[1]
				}
				return background(ctx, a, h, id, act, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func background(ctx context.Context, a *app.App, h *homes.Home, id, act string, asJSON bool) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	if act, err = foreground(st, act); err != nil {
		return err
	}
	var t view.Task
	err = a.Within(ctx, h, id, app.Patience, func(ctx context.Context) (err error) {
		t, err = h.Tasks().Detach(ctx, id, act)
		return err
	})
	if errors.Is(err, homes.ErrTooFast) {
		return &app.ExitError{
			Code: app.ExitFailed, Text: "the command of act " + act + " ended before it could be sent to the background", Hint: "perdure show " + id + " tells how",
		}
	}
	if err != nil {
		return err
	}
	return tellStarted(a, t, asJSON)
}

// foreground finds the command that is meant: the one of that act, or the only one that runs.
func foreground(st *session.State, act string) (string, error) {
	var running []string
	if st.Turn != nil {
		for i := range st.Turn.Calls {
			if c := &st.Turn.Calls[i]; !c.Settled() && c.Detachable() {
				running = append(running, c.ID)
			}
		}
	}
	switch {
	case act == "" && len(running) == 1:
		return running[0], nil
	case act == "" && len(running) > 1:
		return "", app.UsageError("more than one command runs in the foreground of session %s: name one of %v", st.ID, running)
	case slices.Contains(running, act):
		return act, nil
	}
	e := &app.ExitError{Code: app.ExitMissing, Text: "no command runs in the foreground of session " + st.ID, Hint: "perdure task list " + st.ID + " shows its tasks"}
	if len(running) > 0 {
		e.Text, e.Hint = fmt.Sprintf("act %s of session %s is no command that runs in the foreground", act, st.ID), fmt.Sprintf("there is %v", running)
	}
	return "", e
}
