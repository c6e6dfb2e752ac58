package run

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/homes"
)

// StartCommand is perdure start.
func StartCommand(a *app.App) *cobra.Command {
	f := &Flags{}
	all := false
	c := &cobra.Command{
		Use:   "start [PROMPT]",
		Short: "Run a prompt in the background, without a terminal; or bring back what was killed",
		Long: `Runs a prompt in a new session, or with -c or -r in one that is there, as perdure -p --wait does, but without
this terminal: it sleeps while it needs a human, and goes on with the answer. The command returns as soon as the session
and its prompt are durable, and prints the session's id. perdure pause, close and delete end it in order.

A session whose process was killed, by a reboot too, is brought back by the next perdure list, board, inbox or bare
perdure, or by perdure start --resume-all. What was allowed stays allowed; bypassPermissions is not restored.`,
		Example: "  perdure start \"run the tests and fix what fails\"\n  perdure start -r fix-login \"now the docs\"\n  perdure start --resume-all",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Changed = cmd.Flags().Changed
			if !all {
				f.print, f.detach, f.wait = true, true, true
				return Run(cmd.Context(), a, f, args)
			}
			if len(args) > 0 || cmd.Flags().NFlag() > 1 && !(cmd.Flags().NFlag() == 2 && f.Changed("at-most")) {
				return app.UsageError("--resume-all takes nothing but --at-most")
			}
			if f.Changed("at-most") && f.atMost < 1 {
				return app.UsageError("--at-most %d: want 1 or more", f.atMost)
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return resumeAll(ctx, a, h, f) })
		},
	}
	f.Register(c)
	for _, name := range []string{"print", "detach", "wait"} {
		_ = c.Flags().MarkHidden(name) // they are what the command is
	}
	c.Flags().BoolVar(&all, "resume-all", false, "bring back every background session that was killed or could not go on")
	return c
}

// resumeAll brings back what was killed.
func resumeAll(ctx context.Context, a *app.App, h *homes.Home, f *Flags) error {
	k := background.Keeper{App: a, Home: h}
	look := background.Look{Insist: true}
	if f.Changed("at-most") {
		look.Most = f.atMost
	}
	rep, err := k.BringBack(ctx, look)
	k.Tell(rep)
	if n := len(rep.Queued); n > 0 {
		a.Note("%d more begin when others rest", n)
	}
	if err == nil && len(rep.Back)+len(rep.Begun)+len(rep.Queued)+len(rep.Down) == 0 {
		a.Note("nothing is to be brought back")
	}
	if err == nil && len(rep.Down) > 0 {
		err = app.Exit(app.ExitFailed)
	}
	return err
}
