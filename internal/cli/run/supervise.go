package run

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// errRests says that a session was paused or closed before its supervisor held it.
var errRests = errors.New("the session is not open")

// SuperviseCommand is what perdure start starts: it runs one session that has a record, without a terminal.
func SuperviseCommand(a *app.App) *cobra.Command {
	var bypass bool
	c := &cobra.Command{
		Use: background.Command, Short: "Run a session in the background (started by perdure start)", Hidden: true, Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error { return supervise(cmd.Context(), a, args[0], bypass) },
	}
	c.Flags().BoolVar(&bypass, "dangerously-skip-permissions", false, "never ask, for as long as this process lives")
	return c
}

// supervise runs a session as -p --wait does. It keeps the record of one that a signal has parked, which is how a machine
// goes down, and of one that cannot go on, with the reason; whatever else ends the run has ended it in order.
func supervise(ctx context.Context, a *app.App, id string, bypass bool) error {
	home, err := a.HomeDir()
	if err != nil {
		return err
	}
	child, err := background.Adopt(home, id)
	if err != nil {
		return app.UsageError("session %s: %v", id, err)
	}
	world := *a
	world.Stdin, world.Terminal, world.Asks = strings.NewReader(""), true, false
	f := &Flags{
		print: true, resume: id, format: output.Text, wait: true, bypass: bypass, Changed: func(string) bool { return false },
		watched: &watched{child: child},
	}
	err = Run(ctx, &world, f, nil)
	var e *app.ExitError
	said := errors.As(err, &e) && e.Text == ""
	switch {
	case errors.Is(err, store.ErrHeld): // whoever holds it runs it
		child.Held()
		return err
	case said && (e.Code == app.ExitSignalled+int(syscall.SIGTERM) || e.Code == app.ExitSignalled+int(syscall.SIGHUP)):
		return err
	case err == nil, said, errors.Is(err, errRests), errors.Is(err, store.ErrFenced): // a person took it over: it is theirs
		child.Held()
		err = errors.Join(err, child.Done())
	default:
		child.Failed(err)
	}
	next := a.With(ctx, func(h *homes.Home) error { return goOn(ctx, a, h) })
	return errors.Join(err, next)
}

// goOn gives a place that has become free to the next one.
func goOn(ctx context.Context, a *app.App, h *homes.Home) error {
	k := background.Keeper{App: a, Home: h}
	rep, err := k.BringBack(ctx, background.Look{})
	k.Tell(rep)
	return err
}

// watched is a run under a supervisor. Nil is one without.
type watched struct {
	child *background.Child
	free  sync.WaitGroup // looks for others that have a place now
	park  context.CancelFunc

	// Of the session's loop.
	rests bool // the session was paused or closed
	calls bool // a model call is under way
}

// until gives a context that ends when the session is paused or closed: a command that runs then goes on without the
// supervisor, a model's reply is waited for.
func (w *watched) until(ctx context.Context) context.Context {
	if w != nil {
		ctx, w.park = context.WithCancel(ctx)
	}
	return ctx
}

// observing lets see have what the session shows, and notes what of it ends the run.
func (w *watched) observing(see func(engine.Update)) func(engine.Update) {
	if w == nil {
		return see
	}
	return func(u engine.Update) {
		see(u)
		switch b := u.Body.(type) {
		case *session.LifecycleSet:
			w.rests = b.To != session.LifecycleOpen
		case *session.ModelRequested:
			w.calls = true
		case *session.ModelResponded, *session.ModelFailed:
			w.calls = false
		default:
			return
		}
		if w.rests && !w.calls && w.park != nil {
			w.park()
		}
	}
}

// attach has the place given to others while the session sleeps.
func (w *watched) attach(ctx context.Context, a *app.App, h *homes.Home, opt *homes.RunOptions) {
	if w == nil {
		return
	}
	asleep := opt.Asleep
	opt.Asleep = func(r *view.Result) {
		asleep(r)
		w.free.Go(func() {
			if err := goOn(ctx, a, h); err != nil {
				a.Note("%v", err)
			}
		})
	}
}

func (w *watched) opened() {
	if w != nil {
		w.child.Held()
	}
}

// wait waits for what runs beside the session.
func (w *watched) wait() {
	if w != nil {
		w.park()
		w.free.Wait()
	}
}
