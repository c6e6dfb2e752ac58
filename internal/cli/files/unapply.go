package files

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/workspace"
)

// toFlag repeats --to in a command that is shown.
func (p *application) toFlag() string {
	to := p.to
	if to == "" && p.from.Session == "" {
		to = p.dir
	}
	if to == "" {
		return ""
	}
	return " --to " + display.Quote(plain.Line(to, maxPath))
}

// settle finishes an apply to the directory that was interrupted, and says so. Where nothing may be changed, it only says
// that there is one.
func (p *application) settle(ctx context.Context) error {
	if p.id != "" {
		_, err := p.finish(ctx, p.app, p.home, p.id)
		return err
	}
	_, err := p.settleDir(ctx, false)
	return err
}

// settleDir does what is left of an interrupted apply to a directory, with back it takes it back; nil: there is none.
func (p *application) settleDir(ctx context.Context, back bool) (*homes.Applied, error) {
	if p.dryRun || !p.yes && !p.app.Asks {
		was, err := p.home.OpenApply(ctx, p.dir)
		if was != nil {
			p.app.Note("%s to %s was interrupted; it is settled before anything else is done", was.Words(), p.where())
		}
		return nil, err
	}
	was, err := p.home.SettleApply(ctx, p.dir, back)
	switch {
	case was == nil || err != nil:
		return nil, err
	case was.Stage == homes.ApplyDone:
		p.app.Note("%s to %s was interrupted, and is finished now: %s", was.Words(), p.where(), was.RestoreCounts)
	case was.Stage == homes.ApplyPlanned:
		p.app.Note("%s to %s was interrupted before it changed a file", was.Words(), p.where())
	default:
		p.app.Note("%s to %s was interrupted, and was taken back now: the files are as they were", was.Words(), p.where())
	}
	return was, nil
}

// takeBack is perdure apply --undo.
func takeBack(cmd *cobra.Command, a *app.App, f *flags, args []string, to string) error {
	if f.force {
		return app.UsageError("--undo takes nothing back that was changed since: it has no --force")
	}
	return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
		p := application{flags: f, app: a, home: h, from: &homes.Branch{}, to: to}
		if len(args) == 1 {
			id, err := a.Resolve(ctx, h, args[0])
			if err != nil {
				return err
			}
			b, err := h.BranchOf(ctx, id)
			if err != nil {
				return err
			}
			p.from = &b
		} else if p.to == "" {
			p.dir = a.Dir
		}
		if err := p.aim(ctx); err != nil {
			return err
		}
		if p.id != "" {
			return p.undoApply(ctx)
		}
		// Taken back, or finished if it was a taking back: that is what is asked for. Else it is still to be done.
		if was, err := p.settleDir(ctx, true); err != nil || was != nil && (was.Undo == "") != (was.Stage == homes.ApplyDone) {
			return err
		}
		last, err := LastApplied(ctx, h, "", p.dir, p.from.Session)
		if errors.Is(err, homes.ErrNotApplied) {
			return &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("nothing was applied to %s that can be taken back", p.where()), Hint: "--to names another directory, or a session; perdure undo ID takes back what was applied to a session's files"}
		} else if err != nil {
			return p.notLast(err)
		}
		return p.unapply(ctx, last.Apply)
	})
}

// undoApply undoes what a session's files became last, if that was an apply, and of the session that is named, if one is.
func (p *application) undoApply(ctx context.Context) error {
	if was, err := p.finish(ctx, p.app, p.home, p.id); err != nil || was != nil && was.Undo != nil {
		return err // it is the undo that is asked for again
	}
	last, err := LastApplied(ctx, p.home, p.id, "", p.from.Session)
	if none, ok := errors.AsType[*NoApplyError](err); ok {
		return &app.ExitError{
			Code: app.ExitMissing, Text: "what changed the files of session " + p.id + " last is no apply: perdure undo goes to " + none.To,
			Hint: "perdure checkpoint " + p.id + " --list shows the moments that there are",
		}
	} else if err != nil {
		return missing(p.notLast(err), p.id)
	}
	return p.flags.run(ctx, p.app, p.home, p.id, last.Point)
}

// notLast words the error that what was applied last are the changes of another session than the one that is named.
func (p *application) notLast(err error) error {
	other, ok := errors.AsType[*OtherApplyError](err)
	if !ok {
		return err
	}
	last := plain.Line(other.Session, maxPath)
	return &app.ExitError{
		Code: app.ExitMissing, Text: fmt.Sprintf("what was applied to %s last are the changes of session %s", p.where(), last),
		Hint: "perdure apply --undo" + p.toFlag() + " " + last + " takes them back",
	}
}

// unapply shows the plan, asks, and takes an apply back.
func (p *application) unapply(ctx context.Context, last homes.Applied) error {
	plan, err := p.home.PlanUnapply(ctx, last)
	if err != nil {
		return err
	}
	plan.Release()
	if err := roomFirst(p.home, p.dryRun); err != nil {
		return err
	}
	to := homes.FilePoint{Tree: last.Before, Dir: p.dir, To: "before the changes of session " + last.Session + " were applied"}
	ask := !p.yes && !p.dryRun
	if ask || !p.asJSON && p.dryRun {
		p.app.Linef("%s, to %s: %s", p.where(), to.To, plan)
		p.list(p.app, plan)
	} else if !p.asJSON {
		p.joined(p.app, plan)
	}
	switch {
	case p.dryRun && p.asJSON:
		return p.app.JSON(planView("", to, plan))
	case p.dryRun:
		return nil
	case ask && !p.app.Asks:
		return &app.ExitError{Code: app.ExitUsage, Text: "nothing was changed: it asks first", Hint: "without a terminal, say --yes; --dry-run only shows the plan"}
	case ask:
		if yes, err := p.app.Confirm(ctx, "take them back? [y/N] ", false); err != nil || !yes {
			return errors.Join(err, &app.ExitError{Code: app.ExitFailed, Text: "nothing was changed"})
		}
	}
	return p.undone(ctx, last, to, plan)
}

func (p *application) undone(ctx context.Context, last homes.Applied, to homes.FilePoint, plan *workspace.Planned) error {
	done, err := p.home.Unapply(ctx, last)
	if err != nil {
		return err
	}
	if p.asJSON {
		return p.app.JSON(outcome{To: to.To, Dir: to.Dir, Done: true, RestoreCounts: done.RestoreCounts, Kept: done.Kept})
	}
	p.app.Linef("taken back: %s", done.RestoreCounts)
	if len(done.Kept) > 0 || len(plan.Kept) > 0 {
		p.app.Note("what was changed since stays; what it was before lies beside it, as NAME.perdure-conflict")
	}
	if _, err := p.home.BranchOf(ctx, last.Session); err == nil {
		p.app.Hint("perdure apply%s %s applies them again", p.toFlag(), last.Session)
	}
	return nil
}
