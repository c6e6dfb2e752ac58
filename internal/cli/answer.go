package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
)

func (a *App) answerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "answer ID TEXT", Short: "Answer a question that the model asked", Args: rangeArgs(2, -1, "a question, or a session in which one waits, and the answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args[1:], " ")
			if strings.TrimSpace(text) == "" {
				return usageError("an answer cannot be empty")
			}
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
				w, err := a.findWait(ctx, h, args[0], kindQuestion)
				if err != nil {
					return err
				}
				err = a.within(ctx, h, w.session, patience, func(ctx context.Context) error { return h.Answer(ctx, w.session, w.call.ID, text) })
				if err != nil {
					return err
				}
				a.goOn(ctx, h, w.session)
				return nil
			})
		},
	}
}
