package app

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/pace"
)

// Show gives a model the whole terminal until it ends. A signal that ends ctx is the error: whoever waits words it.
func (a *App) Show(ctx context.Context, m tea.Model) error {
	defer a.Undisturbed()()
	_, err := a.Program(ctx, m).Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Program is a model that is ready to run on this world's terminal.
func (a *App) Program(ctx context.Context, m tea.Model) *tea.Program {
	return pace.New(m, tea.WithContext(ctx), tea.WithInput(a.Stdin), tea.WithOutput(Underneath(a.Stdout)),
		tea.WithEnvironment(a.Environ), tea.WithoutSignalHandler())
}
