package handoffs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/settings"
)

func writeCommand(a *app.App) *cobra.Command {
	var noModel, asJSON bool
	c := &cobra.Command{
		Use: "write ID", Short: "Write a session's handoff now, for the next session in its directory",
		Long: `Writes a session's handoff now: into its log, and where the next session in its directory finds it. The model is asked for
words once; --no-model writes it from the log alone. A session that lasted 15 minutes ([knowledge] min_session) leaves one
by itself when a run ends.`,
		Example: "  perdure handoff write fix-login\n  perdure handoff write fix-login --no-model",
		Args:    app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return write(cmd.Context(), a, args[0], !noModel, asJSON)
		},
	}
	c.Flags().BoolVar(&noModel, "no-model", false, "ask no model: write what the log says")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: session_id, written, text")
	return c
}

// written is what became of it, as --json prints it. The names of its fields are a contract.
type written struct {
	Session string `json:"session_id"`
	Written bool   `json:"written"` // false: its holder writes it before its next model call
	Text    string `json:"text"`
}

func write(ctx context.Context, a *app.App, name string, asks, asJSON bool) (err error) {
	set, err := settings.Load(settings.UserFile(a.Getenv), "")
	if err != nil {
		return err
	}
	return a.WithSettings(ctx, set, func(h *homes.Home) error {
		id, err := a.Resolve(ctx, h, name)
		if err != nil {
			return err
		}
		if asks && a.Terminal {
			a.Note("session %s: the model is asked for the words; Ctrl-C leaves them out", id)
		}
		text, err := h.WriteHandoff(ctx, id, asks)
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.JSON(written{Session: id, Written: text != "", Text: text})
		case text == "":
			a.Note("session %s: another process holds it: the handoff is written before its next model call", id)
			return nil
		}
		a.Linef("%s", display.Safe(text))
		return nil
	})
}
