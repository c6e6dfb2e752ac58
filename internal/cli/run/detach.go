package run

import (
	"context"
	"slices"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// started is what a command that lets a session run on says in JSON.
type started struct {
	Type    string `json:"type"` // started
	Session string `json:"session_id"`
	Queued  bool   `json:"queued"` // it begins when others rest
}

// detach lets a session run on without this terminal. What it may do and what it is to do is in its log before anything
// is started; the mode that no log keeps goes with the supervisor alone.
func detach(ctx context.Context, a *app.App, h *homes.Home, f *Flags, id, prompt string, opt homes.RunOptions) error {
	bypass := opt.Mode == permission.ModeBypass
	if bypass {
		opt.Mode = ""
	}
	opt.Prompt = prompt
	if err := h.HandOver(ctx, id, opt); err != nil {
		return err
	}
	k := background.Keeper{App: a, Home: h}
	rep, err := k.Start(ctx, id, f.atMost, bypass)
	if err != nil {
		a.Note("session %s is there, and has its prompt, but does not run", id)
		a.Hint("perdure start -r %s tries again", a.Call(ctx, h, id))
		return err
	}
	why, down := rep.Down[id]
	if down {
		delete(rep.Down, id)
	}
	rep.Begun, rep.Back = without(rep.Begun, id), without(rep.Back, id)
	queued := len(rep.Queued) > len(without(rep.Queued, id))
	k.Tell(rep)
	if slices.Contains(rep.Over, id) {
		return nothingToDo(ctx, a, h, id)
	}
	switch {
	case down:
		a.Note("session %s is there, and has its prompt, but does not run: %s", id, why)
		a.Hint("perdure start -r %s tries again", a.Call(ctx, h, id))
		return app.Exit(app.ExitFailed)
	case f.format != output.Text:
		return a.JSON(started{Type: "started", Session: id, Queued: queued})
	}
	a.Linef("%s", id)
	if queued {
		a.Note("session %s begins when one of the others in the background rests", id)
	} else {
		a.Note("session %s runs in the background", id)
	}
	called := a.Call(ctx, h, id)
	a.Hint("perdure attach %s shows it, perdure board all of them; perdure pause %s stops it", called, called)
	return nil
}

// nothingToDo says why a session that is there does not run.
func nothingToDo(ctx context.Context, a *app.App, h *homes.Home, id string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	halt, why := st.Halt()
	switch halt {
	case "":
		a.Note("session %s: there is no interrupted turn", id)
		return nil
	case session.TurnMaxSteps, session.TurnMaxBudget:
		return &app.ExitError{Code: app.ExitLimit, Text: "session " + id + " does not go on: " + why}
	}
	return &app.ExitError{Code: app.ExitFailed, Text: "session " + id + " does not go on: " + why}
}

func without(ids []string, id string) (out []string) {
	for _, other := range ids {
		if other != id {
			out = append(out, other)
		}
	}
	return out
}
