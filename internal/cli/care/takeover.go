package care

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// TakeoverCommand is perdure takeover.
func TakeoverCommand(a *app.App) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "takeover ID", Short: "Free a session whose holder cannot be asked, such as one on a machine that is gone",
		Long: `Free a session from the process that holds it, whatever became of that process: it ran on a
machine that is gone, or it hangs. It is not ended. If it lives after all, the session refuses
its next write, and it stops. What it was doing when it was last heard of counts as unknown or is
done again, as after a crash; commands that it started on another machine run on there.

To leave such a session as it is and go on in a copy: perdure fork ID.`,
		Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return takeover(ctx, a, h, id, yes)
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func takeover(ctx context.Context, a *app.App, h *homes.Home, id string, yes bool) error {
	info, err := h.Store().Get(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case info.Holder == nil || info.Holder.Alive == store.Dead:
		a.Note("nobody holds session %s; %s goes on", id, a.Command("-p", "--resume", id))
		return nil
	case !yes:
		if err := confirmTakeover(ctx, a, id, *info.Holder); err != nil {
			return err
		}
	}
	if err := h.Takeover(ctx, id); err != nil {
		return err
	}
	a.Note("session %s is free; %s goes on", id, a.Command("-p", "--resume", id))
	return nil
}

func confirmTakeover(ctx context.Context, a *app.App, id string, holder store.Holder) error {
	if !a.Asks {
		return &app.ExitError{Code: app.ExitUsage, Text: "takeover asks first", Hint: "without a terminal, say --yes"}
	}
	lives := "still runs on this machine: end it rather, if you can"
	if holder.Alive == store.Unknown {
		lives = "cannot be seen from this machine"
	}
	a.Hint("session %s is held by pid %d on %s, which %s", id, holder.PID, holder.Host, lives)
	answer, err := a.Ask(ctx, "take it over? What it does there is lost to the session [y/N] ")
	if err != nil {
		return err
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
		return nil
	}
	return &app.ExitError{Code: app.ExitFailed, Text: "nothing was changed"}
}
