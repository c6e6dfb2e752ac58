package app

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/perdure/perdure/internal/ui/pace"
)

// Show gives a model the whole terminal until it ends. A signal that ends ctx is the error: whoever waits words it.
func (a *App) Show(ctx context.Context, m tea.Model) error {
	defer a.Undisturbed()()
	err := a.Draw(ctx, a.Program(ctx, m))
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

// stuckFor is how long the end of a screen by a signal may take.
const stuckFor = 10 * time.Second

// Draw runs a program until it ends. Where a signal has ended ctx, and what comes then takes too long, since it hangs in a
// write to a terminal that takes nothing any more, the process ends as it does by a second signal: nothing that it could
// interrupt needs it to be finished, and the session would be held for as long as the connection hangs.
func (a *App) Draw(ctx context.Context, p *tea.Program) error {
	restore := a.modes()
	stop := context.AfterFunc(ctx, func() {
		caught, ok := errors.AsType[Caught](context.Cause(ctx))
		if !ok {
			return
		}
		select {
		case <-caught.over:
		case <-time.After(stuckFor):
			restore()
			code := ExitFailed
			if sig, ok := caught.Signal.(syscall.Signal); ok {
				code = ExitSignalled + int(sig)
			}
			os.Exit(code)
		}
	})
	defer stop()
	_, err := p.Run()
	return err
}

// modes remembers the terminal's modes; what it gives puts them back.
func (a *App) modes() (restore func()) {
	f, ok := a.Stdin.(*os.File)
	if !ok {
		return func() {}
	}
	was, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), was) }
}
