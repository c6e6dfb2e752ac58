package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workspace"
)

// ApplyCommand is perdure apply.
func ApplyCommand(a *app.App) *cobra.Command {
	f := &flags{}
	var to string
	var undo bool
	c := &cobra.Command{
		Use: "apply [FROM]", Short: "Bring a fork's changes to files back into the session that it was forked from",
		Long: `Bring back what a session with a directory of its own (a fork, or one begun with --isolate) has changed since it began, what
commands changed and deleted included: into the files of the session that it was forked from, or with --to into those of
another session or into a directory. Without such a session it is the directory of which it has a copy.

Files that were changed there meanwhile, in another way, stay as they are; the fork's version lies beside them, as
NAME.perdure-conflict. What would be done is shown first; without a terminal nothing is done unless --yes is given. What is
there is kept before. In a session's files it is a restore of its log: perdure undo takes it back. What was applied to a
directory perdure apply --undo takes back, with FROM or, for the newest, with --to DIR or nothing, which is this directory. An
apply that was killed is finished, or with --undo taken back, by the next one. Commits are not brought along: the files are.`,
		Args: app.RangeArgs(0, 1, "a session with a directory of its own"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if undo {
				return takeBack(cmd, a, f, args, to)
			}
			if err := app.ExactArgs(1, "a session with a directory of its own")(cmd, args); err != nil {
				return err
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				b, err := h.Branch(ctx, id)
				if errors.Is(err, homes.ErrNotOwn) {
					return &app.ExitError{Code: app.ExitUsage, Text: err.Error() + ": what it changed is where it works already", Hint: "perdure diff " + id + " shows it"}
				}
				if err != nil {
					return err
				}
				defer b.Release()
				p := application{flags: f, app: a, home: h, from: &b, to: to}
				if err := p.aim(ctx); err != nil {
					return err
				}
				if err := p.settle(ctx); err != nil {
					return err
				}
				return p.run(ctx)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "apply to this session's files, or to this directory: `ID|DIR`")
	c.Flags().BoolVar(&undo, "undo", false, "take back what was applied last")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "only show what would be done")
	c.Flags().BoolVar(&f.force, "force", false, "the fork's version also where both have changed a file")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

// application is one perdure apply.
type application struct {
	*flags
	app  *app.App
	home *homes.Home
	from *homes.Branch
	to   string // --to
	id   string // the session that it is applied to; empty: none
	dir  string
}

// Aim is where the changes of a branch go: into the files of a session, below a directory, or into a directory with no
// session, for which id is empty.
func Aim(ctx context.Context, a *app.App, h *homes.Home, from *homes.Branch) (id, dir string, err error) {
	p := application{app: a, home: h, from: from}
	err = p.aim(ctx)
	return p.id, p.dir, err
}

// aim finds where the changes go.
func (p *application) aim(ctx context.Context) error {
	if to := p.to; p.dir != "" {
		return nil
	} else if to == "" {
		if p.id = p.from.Parent; p.id == "" {
			p.dir = p.from.From
		}
	} else if id, err := p.app.Resolve(ctx, p.home, to); err == nil {
		p.id = id
	} else if abs := filepath.Join(p.app.Dir, to); filepath.IsAbs(to) || app.IsDir(abs) {
		if p.dir = abs; filepath.IsAbs(to) {
			p.dir = to
		}
	} else {
		return err
	}
	if p.id != "" && p.id == p.from.Session {
		return app.UsageError("session %s cannot be applied to itself", p.id)
	}
	if p.id != "" {
		st, err := p.home.State(ctx, p.id)
		if err != nil {
			return err
		}
		if p.dir = st.Config.Root; p.dir == "" {
			p.dir = st.Cwd
		}
	}
	if p.dir == "" || !app.IsDir(p.dir) {
		return &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("there is no directory %s to apply to", p.app.Tilde(p.dir)), Hint: "--to names another session or directory"}
	}
	return nil
}

// where is what it is applied to, in words.
func (p *application) where() string {
	dir := plain.Line(p.app.Tilde(p.dir), maxPath)
	if p.id != "" {
		return "session " + p.id + ", " + dir
	}
	return dir
}

func (p *application) run(ctx context.Context) error {
	plan, err := p.home.PlanApply(ctx, p.from, p.id, p.dir, p.force)
	if err != nil {
		return err
	}
	plan.Release()
	if err := roomFirst(p.home, p.dryRun || plan.Nothing()); err != nil {
		return err
	}
	BothSides(plan)
	to := homes.FilePoint{Tree: p.from.Now.Tree, Dir: p.dir, To: "the changes of session " + p.from.Session}
	ask := !p.yes && !p.dryRun
	if ask || !p.asJSON && (p.dryRun || plan.Nothing()) {
		what := plan.String()
		if plan.Nothing() && len(plan.Kept) == 0 {
			what = "all of them are there already"
		}
		p.app.Linef("the changes of session %s, to %s: %s", p.from.Session, p.where(), what)
		p.list(p.app, plan)
	} else if !p.asJSON {
		p.joined(p.app, plan)
	}
	switch {
	case plan.Nothing() || p.dryRun:
		if p.asJSON {
			return p.app.JSON(planView(p.id, to, plan))
		}
		return nil
	case ask && !p.app.Asks:
		return &app.ExitError{Code: app.ExitUsage, Text: "nothing was changed: it asks first", Hint: "without a terminal, say --yes; --dry-run only shows the plan"}
	case ask:
		if yes, err := p.app.Confirm(ctx, "apply them? [y/N] ", false); err != nil || !yes {
			return errors.Join(err, &app.ExitError{Code: app.ExitFailed, Text: "nothing was changed"})
		}
	}
	return p.do(ctx, to, plan)
}

// BothSides words what stays as it is in a merge: who has changed it there may have been anybody.
func BothSides(plan *workspace.Planned) {
	for i := range plan.Kept {
		switch k := &plan.Kept[i]; k.Why {
		case restore.Edited, restore.Unknown:
			k.Why = "it was changed there too, in another way"
		case restore.Gone, restore.UnknownGone:
			k.Why = "it was deleted there"
		default:
		}
	}
}

func (p *application) do(ctx context.Context, to homes.FilePoint, plan *workspace.Planned) (err error) {
	var done session.FilesRestored
	if p.id != "" {
		done, err = p.home.ApplyTo(ctx, p.from, p.id, p.force)
	} else {
		got, applyErr := p.home.ApplyToDir(ctx, p.from, p.dir, p.force)
		done.RestoreCounts, done.Kept, err = got.RestoreCounts, got.Kept, applyErr
	}
	if err != nil && p.id != "" {
		return interrupted(ctx, p.home, p.id, err)
	}
	if err != nil {
		return err
	}
	if p.asJSON {
		return p.app.JSON(outcome{Session: p.id, To: to.To, Dir: to.Dir, Done: true, RestoreCounts: done.RestoreCounts, Kept: done.Kept})
	}
	back := "undo " + p.id
	if p.id == "" {
		back = fmt.Sprintf("apply --undo%s %s", p.toFlag(), p.from.Session)
	}
	p.app.Linef("applied: %s, to %s; perdure %s takes this back", done.RestoreCounts, p.where(), back)
	for _, path := range done.Kept {
		if !slices.ContainsFunc(plan.Kept, func(k restore.Kept) bool { return k.Path == path && k.Copy == "" }) { // such as what the fork has deleted
			p.app.Linef("  = %s stays as it is; the other version lies beside it", plain.Line(path, maxPath))
		}
	}
	for _, c := range p.home.CommitsOf(ctx, p.from.Session) {
		p.app.Hint("of its %s the files are there; git branch NAME %.12s, in %s, keeps what it committed", display.Count(int64(c.N), "commit"), c.Newest, plain.Line(p.app.Tilde(c.Repo), maxPath))
	}
	return nil
}
