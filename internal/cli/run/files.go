package run

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
)

// What --files says of a session that goes on.
const (
	filesKeep    = "keep"
	filesRestore = "restore"
	filesAsk     = "ask"
)

// lookLimit bounds the look at the files of a session that goes on, when nobody asked for it.
const lookLimit = 2 * time.Second

// resumeFiles does what --files says about the files of a session that goes on: they stay, which is said where they
// differ, or become what they were when it was left. A directory that is gone is made again, if that is wanted.
func resumeFiles(ctx context.Context, a *app.App, h *homes.Home, id string, f *Flags) error {
	a.WarnOfApplies(ctx, h, id)
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	p, err := h.FilesKnown(st)
	if err == nil {
		return errors.Join(filesAre(ctx, a, h, id, p, f), worktreesAre(ctx, a, h, id, f))
	}
	if f.files != filesRestore {
		err = nil // nothing is known that could be said
	} else {
		err = &app.ExitError{Code: app.ExitFailed, Text: "its files cannot be restored: " + err.Error(), Hint: "perdure -p --resume " + id + " goes on with the files as they are"}
	}
	return err
}

// filesAre does that for a session whose files are known.
func filesAre(ctx context.Context, a *app.App, h *homes.Home, id string, p homes.FilePoint, f *Flags) error {
	switch {
	case !app.IsDir(p.Dir):
		return rebuild(ctx, a, h, id, p, f)
	case f.files == filesRestore || f.files == filesAsk:
		return giveBack(ctx, a, h, id, p, f.files == filesAsk)
	}
	tellDiffering(ctx, a, h, id, p)
	return nil
}

// worktreesAre says that git does not work in the session's own directory any more, or, with --files restore, makes it
// work again.
func worktreesAre(ctx context.Context, a *app.App, h *homes.Home, id string, f *Flags) error {
	short := func(dir string) string { return plain.Line(a.Tilde(dir), maxShownPath) }
	if f.files != filesRestore {
		for _, w := range h.BrokenTrees(id) {
			a.Note("git does not work in %s: its repository has forgotten it, or is not in %s any more", short(w.Dir), short(w.Repo))
			a.Hint("--files restore makes it a worktree again; where the repository was moved: git -C NEWPLACE worktree repair %s", short(w.Dir))
		}
		return nil
	}
	got, err := h.MendTrees(ctx, id)
	for _, dir := range got.Dirs {
		a.Note("%s is a git worktree again", short(dir))
	}
	for _, what := range got.Lacks {
		a.Note("  not in it: %s", short(what))
	}
	for _, what := range got.Broken {
		a.Note("git does not work in %s", short(what))
		a.Hint("where the repository was moved: git -C NEWPLACE worktree repair, with the directory")
	}
	return err
}

// rebuild makes the directory of a session again.
func rebuild(ctx context.Context, a *app.App, h *homes.Home, id string, p homes.FilePoint, f *Flags) error {
	switch {
	case f.files == filesAsk && a.Asks:
		a.Note("the directory %s of session %s is gone; what was in it on %s is kept", a.Tilde(p.Dir), id, dayOf(p))
		if yes, err := a.Confirm(ctx, "make it again? [y/N] ", false); err != nil || !yes {
			return err // what keeps the session from going on is said next
		}
	case f.files == filesAsk:
		return &app.ExitError{Code: app.ExitWaiting, Text: fmt.Sprintf("the directory %s of session %s is gone", p.Dir, id), Hint: "without a terminal, say --files restore: it is made again"}
	case f.files != filesRestore:
		return nil
	}
	made, err := h.RebuildFiles(ctx, p)
	if err != nil {
		return err
	}
	a.Note("%s was gone: it is there again, as it was on %s: %s, %s, %s", a.Tilde(p.Dir), dayOf(p),
		display.Count(int64(made.Files), "file"), display.Count(int64(made.Dirs), "directory"), display.Count(int64(made.Links), "link"))
	own := h.ProjectOf(p.Dir) != p.Dir
	for i, k := range made.Kept {
		if own && path.Base(k.Path) == ".git" { // it is said next whether it is a worktree again
			continue
		}
		if i == maxReport {
			a.Note("  … and %d more that could not be made", len(made.Kept)-i)
			break
		}
		a.Note("  not there: %s: %s", plain.Line(k.Path, maxShownPath), k.Why)
	}
	return nil
}

// maxShownPath bounds a path on a line, in characters.
const maxShownPath = 300

// dayOf is when a point was captured.
func dayOf(p homes.FilePoint) string { return time.UnixMilli(p.Time).Format("2006-01-02 15:04") }

// giveBack has the files become what they were when the session was left. What is there is captured first.
func giveBack(ctx context.Context, a *app.App, h *homes.Home, id string, p homes.FilePoint, ask bool) error {
	plan, err := h.PlanRestore(ctx, id, p, nil, true) // what others did since is what is asked about
	if err != nil {
		return err
	}
	plan.Release()
	if plan.Nothing() {
		a.Note("the files in %s are as session %s left them", a.Tilde(p.Dir), id)
		return nil
	}
	showPlan(a, id, p, plan)
	if ask && !a.Asks {
		return &app.ExitError{
			Code: app.ExitWaiting, Text: "the files are not as the session left them, and somebody is to say what they should be",
			Hint: "without a terminal, say --files restore or --files keep",
		}
	}
	if ask {
		if yes, err := a.Confirm(ctx, "restore them? [y/N] ", false); err != nil || !yes {
			return err
		}
	}
	done, err := h.RestoreFiles(ctx, id, session.RestoreRequested{Target: p.Tree, To: p.To, Force: true})
	if err != nil {
		return err
	}
	a.Note("restored: %s", done.RestoreCounts)
	a.Hint("perdure undo %s takes this back", a.Call(ctx, h, id))
	return nil
}

func showPlan(a *app.App, id string, p homes.FilePoint, plan *workspace.Planned) {
	a.Note("session %s, %s: to be %s: %s", id, a.Tilde(p.Dir), p.To, plan)
	for i, c := range plan.Changes {
		if i == maxReport {
			a.Note("  … and %d more", len(plan.Changes)-i)
			break
		}
		a.Note("  %s: %s", plain.Line(c.Path, maxShownPath), c.Verb())
	}
}

// tellDiffering says how many files are not as the session left them.
func tellDiffering(ctx context.Context, a *app.App, h *homes.Home, id string, p homes.FilePoint) {
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	added, modified, deleted, err := differing(limited, h, id, p)
	switch {
	case err != nil && ctx.Err() == nil:
		a.Note("whether files changed since session %s was left is not known: %s", id, plain.Line(err.Error(), maxShownPath))
	case added+modified+deleted > 0:
		a.Note("since session %s was left, files in %s changed: %d added, %d modified, %d deleted; they stay so", id, a.Tilde(p.Dir), added, modified, deleted)
		hint := "--files restore brings back what they were"
		if p.Seq > 0 { // else it is an event of the session that this one was forked from
			hint += fmt.Sprintf("; perdure diff %s @%d shows it", id, p.Seq)
		}
		a.Hint("%s", hint)
	}
}

func differing(ctx context.Context, h *homes.Home, id string, p homes.FilePoint) (added, modified, deleted int, err error) {
	now, release, err := h.FilesNow(ctx, id)
	if err != nil {
		return 0, 0, 0, err
	}
	defer release()
	err = h.FileChanges(p.Tree, now.Tree, func(c tree.Change) error {
		dir := func(e *tree.Entry) bool { return e == nil || e.Kind == tree.Dir }
		switch {
		case dir(c.Before) && dir(c.After): // what is in it says more
		case c.Before == nil:
			added++
		case c.After == nil:
			deleted++
		default:
			modified++
		}
		return ctx.Err()
	})
	return added, modified, deleted, err
}

// errGone is about a session whose directory is gone, with the ways back.
func errGone(a *app.App, h *homes.Home, st *session.State) error {
	id := a.Call(context.Background(), h, st.ID)
	hint := fmt.Sprintf("perdure -p --resume %s --cwd DIR goes on in another directory; or make %s again", id, st.Config.Root)
	if _, err := h.FilesKnown(st); err == nil {
		hint = fmt.Sprintf("perdure -p --resume %s --files restore makes it again as it was; --cwd DIR goes on in another directory", id)
	} else if !errors.Is(err, homes.ErrNoFiles) {
		hint += "; " + err.Error()
	}
	return &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("session %s works in %s, which is gone", st.ID, st.Cwd), Hint: hint}
}

// whereabouts says that a session has no directory to work in, with the ways back; nil: it has one.
func whereabouts(a *app.App, h *homes.Home, st *session.State) error {
	if st.Cwd == "" || app.IsDir(st.Cwd) || app.IsDir(st.Config.Root) {
		return nil
	}
	return errGone(a, h, st)
}
