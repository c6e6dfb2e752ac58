package cli

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/demo"
	"github.com/perdure/perdure/internal/homes"
)

// demoCommand shows a session that survives a SIGKILL.
func (a *App) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See a session survive a SIGKILL: no key, no network",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(h *homes.Home) error {
				d := demo.Demo{Home: h, Exe: a.Exe, Environ: a.Environ, ID: "demo-" + uuid.NewString()[:8], Out: a.Stdout}
				return d.Run(cmd.Context())
			})
		},
	}
}

// demoServerCommand is the demo's dev server.
func (a *App) demoServerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "demo-server DIR",
		Hidden: true,
		Args:   exactArgs(1, "a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return demo.Serve(ctx, args[0], a.Stdout)
		},
	}
}
