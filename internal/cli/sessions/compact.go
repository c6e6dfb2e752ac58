package sessions

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

// CompactCommand is perdure compact.
func CompactCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "compact ID [FOCUS]",
		Short: "Make room in the model's window: a summary takes the place of the older conversation",
		Long: `The model writes a summary of the conversation; from then on its requests hold the summary, your own messages word for
word, the plan, the running tasks and the newest steps. The log keeps everything: perdure show ID --messages shows the
whole conversation, perdure show ID --context what the next request holds.

FOCUS says what the summary should dwell on. A session compacts itself when its conversation fills 0.8 of the model's
window (--compact-at), so this is for earlier, or for a session that was started with --no-compact.`,
		Args: app.RangeArgs(1, -1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return compact(ctx, a, h, id, strings.Join(args[1:], " "), asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func compact(ctx context.Context, a *app.App, h *homes.Home, id, focus string, asJSON bool) error {
	why, err := h.NothingToCompact(ctx, id)
	if err != nil {
		return err
	}
	if why != "" {
		if asJSON {
			return a.JSON(view.Compaction{SessionID: id, Why: why})
		}
		a.Note("session %s: %s", id, why)
		return nil
	}
	if a.Terminal {
		a.Note("session %s: the model is asked for a summary", id)
	}
	done, err := h.Compact(ctx, id, focus)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		err = a.JSON(done)
	case done.Done:
		a.Linef("%s: %s → about %s tokens (compaction %d, summary by the %s)", id, display.Grouped(done.Before), display.Grouped(done.After), done.N, done.By)
	default:
		a.Note("session %s: not compacted yet: %s", id, done.Why)
	}
	if err == nil && !done.Done && strings.HasPrefix(done.Why, "the model gave no summary") {
		return app.Exit(app.ExitFailed)
	}
	return err
}
