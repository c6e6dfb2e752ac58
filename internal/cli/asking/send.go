package asking

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/run"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// SendCommand is perdure send.
func SendCommand(a *app.App) *cobra.Command {
	var key string
	c := &cobra.Command{
		Use: "send ID [TEXT...]", Short: "Send a session a message, whoever runs it",
		Long: `Sends a message that becomes a turn of its own. Where a process runs the session (also one that sleeps in
perdure -p --wait) it is taken at once; else the next resume runs it. It is accepted durably and run once. TEXT may
be - for standard input, or nothing where something is piped in.`,
		Example: `  perdure send build "The branch moved, rebase first."
  git log -1 --format=%B | perdure send build --key "$(git rev-parse HEAD)" -`,
		Args: app.RangeArgs(1, -1, "a session and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := message(a, args[1:])
			if err != nil {
				return err
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				body := &session.MessageReceived{Content: []model.Part{model.TextPart(text)}}
				if err := a.Within(ctx, h, id, app.Patience, func(ctx context.Context) error { return h.Deliver(ctx, id, key, body) }); err != nil {
					return err
				}
				a.Note("session %s has it", id)
				run.GoOn(ctx, a, h, id)
				return nil
			})
		},
	}
	c.Flags().StringVar(&key, "key", "", "a `KEY` of yours: the same message under the same key is taken once, however often it is sent")
	return c
}

// message is a text from the arguments, or from stdin for "-".
func message(a *app.App, args []string) (text string, err error) {
	text = strings.TrimSpace(strings.Join(args, " "))
	if len(args) == 0 && a.Terminal {
		return "", app.UsageError("want a session and a text")
	}
	if text == "-" || len(args) == 0 {
		text, err = a.ReadStdin()
		text = strings.TrimSpace(text)
	}
	if err == nil && text == "" {
		err = app.UsageError("a message cannot be empty")
	}
	return text, err
}
