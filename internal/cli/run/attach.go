package run

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// AttachCommand is perdure attach.
func AttachCommand(a *app.App) *cobra.Command {
	f := &Flags{}
	c := &cobra.Command{
		Use: "attach SESSION", Short: "Look on at a session that another process runs, write to it, answer it", Args: app.ExactArgs(1, "a session"),
		Long: `Shows a session live while another process runs it: the model's words as they come, calls and what they print. What
is written here is the session's next message, and approvals and questions can be answered; whoever answers first
counts. Leaving, or killing this command, never disturbs the process that runs the session. If nobody runs it, enter
goes on with it here.`,
		Example: "  perdure attach fix-login",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Changed = cmd.Flags().Changed
			f.resume, f.attach, f.format, f.handoff = args[0], true, output.Text, "continue"
			return interactive(cmd.Context(), a, f)
		},
	}
	c.Flags().BoolVar(&f.inline, "inline", false, "what is finished goes into the terminal's scrollback, and only a few lines are live")
	return c
}

// OpenOnScreen shows a session for a page that it was chosen on: attached if another process runs it, else to go on with
// it; answer gives the keys to what waits.
func OpenOnScreen(ctx context.Context, a *app.App, h *homes.Home, id string, answer bool) error {
	info, err := h.Store().Get(ctx, id)
	if err != nil {
		return err
	}
	held := info.Holder != nil && info.Holder.Alive != store.Dead
	f := &Flags{resume: id, attach: held, answer: answer, nested: true, format: output.Text, handoff: "continue", Changed: func(string) bool { return false }}
	return interactive(ctx, a, f)
}
