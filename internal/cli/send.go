package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

func (a *App) sendCommand() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use: "send ID [TEXT...]", Short: "Send a session a message, whoever runs it",
		Long: `Sends a message that becomes a turn of its own. Where a process runs the session (also one that sleeps in
perdure -p --wait) it is taken at once; else the next resume runs it. It is accepted durably and run once. TEXT may
be - for standard input, or nothing where something is piped in.`,
		Example: `  perdure send build "The branch moved, rebase first."
  git log -1 --format=%B | perdure send build --key "$(git rev-parse HEAD)" -`,
		Args: rangeArgs(1, -1, "a session and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.message(args[1:])
			if err != nil {
				return err
			}
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				body := &session.MessageReceived{Content: []session.Part{session.TextPart(text)}}
				if err := a.Within(ctx, h, id, patience, func(ctx context.Context) error { return h.Deliver(ctx, id, key, body) }); err != nil {
					return err
				}
				a.note("session %s has it", id)
				a.goOn(ctx, h, id)
				return nil
			})
		},
	}
	c.Flags().StringVar(&key, "key", "", "a `KEY` of yours: the same message under the same key is taken once, however often it is sent")
	return c
}

// message is a text from the arguments, or from stdin for "-".
func (a *App) message(args []string) (text string, err error) {
	text = strings.TrimSpace(strings.Join(args, " "))
	if len(args) == 0 && a.Terminal {
		return "", usageError("want a session and a text")
	}
	if text == "-" || len(args) == 0 {
		text, err = a.readStdin()
		text = strings.TrimSpace(text)
	}
	if err == nil && text == "" {
		err = usageError("a message cannot be empty")
	}
	return text, err
}
