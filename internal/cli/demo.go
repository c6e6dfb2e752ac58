package cli

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/demo"
	"github.com/perdure/perdure/internal/homes"
)

// demoCommand shows a session that survives a SIGKILL.
func demoCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See a session survive a SIGKILL: no key, no network",
		Args:  app.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd.Context(), func(h *homes.Home) error {
				d := demo.Demo{Home: h, Exe: a.Exe, Environ: a.Environ, ID: "demo-" + uuid.NewString()[:8], Out: a.Stdout}
				return d.Run(cmd.Context())
			})
		},
	}
}

// demoServerCommand is the demo's dev server.
func demoServerCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:    "demo-server DIR",
		Hidden: true,
		Args:   app.ExactArgs(1, "a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return demo.Serve(ctx, args[0], a.Stdout)
		},
	}
}
