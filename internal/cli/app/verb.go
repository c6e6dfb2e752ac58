package app

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// Verb runs a command over the home. A signal ends its context; what it had accepted stays accepted, and the exit code
// names the signal.
func (a *App) Verb(cmd *cobra.Command, do func(ctx context.Context, h *homes.Home) error) error {
	return a.VerbWith(cmd, func() {}, do)
}

// VerbWith is Verb for a command that has changed something which must be put back even when a second signal ends the
// process at once.
func (a *App) VerbWith(cmd *cobra.Command, putBack func(), do func(ctx context.Context, h *homes.Home) error) error {
	ctx, ended := a.UntilSignal(cmd.Context(), putBack)
	err := a.With(ctx, func(h *homes.Home) error {
		a.WarnOfLosses(ctx, h)
		return do(ctx, h)
	})
	sig, ok := ended().(syscall.Signal)
	if !ok || err == nil {
		return err
	}
	if !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
		for _, text := range Sentences(err) {
			a.Note("%s", interrupted(text, sig))
		}
	}
	return Exit(128 + int(sig))
}

// interrupted words an error whose cause is a signal by what was being done.
func interrupted(text string, sig syscall.Signal) string {
	for _, cause := range []string{context.Canceled.Error(), sig.String()} {
		if what, ok := strings.CutSuffix(text, ": "+cause); ok {
			return "interrupted: " + what
		}
	}
	return text
}

// UntilSignal gives a context that the first signal ends. A second signal ends the process at once: nothing that it
// could interrupt needs this process to be finished, but for putBack. The returned function stops the listening and
// tells the signal.
func (a *App) UntilSignal(parent context.Context, putBack func()) (context.Context, func() os.Signal) {
	ctx, cancel := context.WithCancelCause(parent)
	over := make(chan struct{})
	ended := a.Listen(func(sig os.Signal, again bool) {
		if s, ok := sig.(syscall.Signal); ok && again {
			a.Undisturbed()
			putBack()
			os.Exit(128 + int(s))
		}
		a.stopping()
		cancel(Caught{sig, over})
	})
	return ctx, func() os.Signal {
		defer close(over)
		defer cancel(nil)
		return ended()
	}
}

// Caught is the cause of a context that a signal has ended.
type Caught struct {
	os.Signal
	over <-chan struct{} // closed once nothing more is done for it
}

func (c Caught) Error() string { return c.String() }

// Listen calls heard for each signal; again tells that it is not the first. The returned function ends the listening
// and tells the newest signal, or nil.
func (a *App) Listen(heard func(sig os.Signal, again bool)) (ended func() os.Signal) {
	done, stopped := make(chan struct{}), make(chan struct{})
	var got os.Signal
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case sig := <-a.Signals:
				again := got != nil
				got = sig
				heard(sig, again)
			}
		}
	}()
	return func() os.Signal {
		close(done)
		<-stopped
		return got
	}
}

// OnSession is Verb for a command whose first argument names a session. What was interrupted of applying its changes, or of
// applying some to its directory, is said first; perdure apply has words of its own.
func (a *App) OnSession(cmd *cobra.Command, name string, do func(ctx context.Context, h *homes.Home, id string) error) error {
	return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
		id, err := a.Resolve(ctx, h, name)
		if err != nil {
			return err
		}
		if cmd.Name() != "apply" {
			a.WarnOfApplies(ctx, h, id)
		}
		return do(ctx, h, id)
	})
}

// EachSession walks all sessions that match, page by page, newest first.
func EachSession(ctx context.Context, h *homes.Home, q store.Query, do func(store.Info) error) error {
	q.Limit = 1000
	for {
		page, err := h.Store().List(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range page.Sessions {
			if err := do(s); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.After = page.Next
	}
}
