package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// flags are those of restore and undo.
type flags struct {
	files, conversation bool
	yes, dryRun, force  bool
	asJSON              bool
	paths               []string

	named map[string]bool // paths that stay, and were named with the plan
}

func (f *flags) add(c *cobra.Command) {
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "only show what would be done")
	c.Flags().BoolVar(&f.force, "force", false, "also undo what somebody else has changed since; it is kept in the session, too")
	c.Flags().StringArrayVar(&f.paths, "path", nil, "only this file or directory, `PATH` below the session's; may be repeated")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
}

// RestoreCommand is perdure restore.
func RestoreCommand(a *app.App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "restore ID MOMENT", Short: "Bring a session's files, or its conversation, back to an earlier moment",
		Long: `Bring back what was. MOMENT is the name of a checkpoint, the number of an event (perdure log), or "turn N" for the moment
before that turn's first change; perdure checkpoint ID --list shows them.

  --files         the files become what they were, those that commands changed or deleted included. What is there is
                  kept first, so that perdure undo takes this back. What you, or another session, changed since stays as
                  it is and is named; --force restores it, too.
  --conversation  the session is forked at that moment: the fork knows nothing of what came later, and has the files of
                  that moment in a directory of its own. This one stays. Together with --files the fork goes on in this
                  one's directory; perdure fork ID@EVENT --conversation has it do so with the files as they are.

What would be done is shown first. Without a terminal nothing is done unless --yes is given. A restore that is killed is
finished by the next command that opens the session.`,
		Args: app.ExactArgs(2, "a session and a moment: a checkpoint's name, an event's number or \"turn N\""),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.files && !f.conversation {
				return &app.ExitError{Code: app.ExitUsage, Text: "say what is to be restored", Hint: "--files, --conversation, or both"}
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				if f.files {
					if _, err := f.finish(ctx, a, h, id); err != nil {
						return err
					}
				}
				if args[1] == now {
					return app.UsageError("the files are what they are now: name an earlier moment")
				}
				p, err := h.FilesAt(ctx, id, args[1])
				if err != nil {
					return missing(err, id)
				}
				if f.files {
					if err := f.run(ctx, a, h, id, p); err != nil {
						return err
					}
				}
				if f.conversation && !f.dryRun {
					return f.forkAt(ctx, a, h, id, p)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&f.files, "files", false, "restore the files")
	c.Flags().BoolVar(&f.conversation, "conversation", false, "fork the session at that moment")
	f.add(c)
	return c
}

// UndoCommand is perdure undo.
func UndoCommand(a *app.App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "undo ID", Short: "Take back what a session's newest turn did to files, or its newest restore",
		Long: `Bring the files of a session back to what they were before its newest turn that changed some, or before its newest restore.
Given again, it goes back further. What commands changed and deleted comes back, too; what is outside of the session's
directory does not. What is there is kept first: perdure restore ID EVENT --files brings it back.

What you, or another session, changed meanwhile stays as it is and is named; --force takes it back, too. What would be done
is shown first; without a terminal nothing is done unless --yes is given. The conversation stays: the model is told.

A turn that nobody runs any more, since its process was killed or left, is taken back as far as it came and stays open: when
it goes on the model is told first. While a command of it still runs, nothing is undone.`,
		Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				was, err := f.finish(ctx, a, h, id)
				switch {
				case err != nil || was != nil && was.Undo != nil:
					return err // it is the undo that is asked for again
				case was != nil && was.By.Type == store.ActorEngine: // to undo that would bring back what the lost act did
					a.Hint("perdure restore %s MOMENT --files goes back further; perdure checkpoint %s --list shows the moments", id, id)
					return nil
				}
				p, err := h.UndoPoint(ctx, id)
				if err != nil {
					return missing(err, id)
				}
				return f.run(ctx, a, h, id, p)
			})
		},
	}
	f.add(c)
	return c
}

func missing(err error, id string) error {
	if errors.Is(err, homes.ErrNoFiles) {
		return &app.ExitError{Code: app.ExitMissing, Text: err.Error(), Hint: "perdure checkpoint " + id + " --list shows the moments that there are"}
	}
	return err
}

// finish does what is left of a restore whose process was killed, and says so; nil if there is none. Where nothing may be
// changed, it only says that there is one.
func (f *flags) finish(ctx context.Context, a *app.App, h *homes.Home, id string) (*session.Restore, error) {
	if f.dryRun || !f.yes && !a.Asks {
		st, err := h.State(ctx, id)
		if err == nil && st.Workspace.Restore != nil {
			a.Note("session %s: %s was interrupted; it is finished before another one", id, plain.Line(st.Workspace.Restore.Words(), maxPath))
		}
		return nil, err
	}
	if err := h.SettleLeft(ctx, id); err != nil {
		return nil, err
	}
	was, done, err := h.FinishRestore(ctx, id)
	if err != nil || was == nil {
		return nil, interrupted(ctx, h, id, err)
	}
	a.Note("session %s: %s was interrupted, and is finished now", id, plain.Line(was.Words(), maxPath))
	if was.Undo == nil {
		return was, nil
	}
	return was, f.told(a, id, homes.FilePoint{Dir: was.Dir, To: was.To, Seq: *was.Undo, Undo: was.Undo}, done, beforeOf(ctx, h, id))
}

// run shows the plan, asks, and restores.
func (f *flags) run(ctx context.Context, a *app.App, h *homes.Home, id string, to homes.FilePoint) error {
	paths, err := f.below(a, to.Dir)
	if err != nil {
		return err
	}
	if len(paths) > 0 {
		to.Undo = nil // the rest of the turn can still be undone
	}
	plan, err := h.PlanRestore(ctx, id, to, paths, f.force)
	if err != nil {
		return err
	}
	plan.Release()
	if plan.Nothing() {
		return f.nothing(a, id, to, plan)
	}
	if err := roomFirst(h, f.dryRun); err != nil {
		return err
	}
	ask := !f.yes && !f.dryRun
	if ask || !f.asJSON && f.dryRun {
		f.show(a, id, to, plan)
	} else if !f.asJSON {
		f.joined(a, plan)
	}
	switch {
	case f.dryRun && f.asJSON:
		return a.JSON(planView(id, to, plan))
	case f.dryRun:
		return nil
	case ask && !a.Asks:
		return &app.ExitError{Code: app.ExitUsage, Text: "nothing was changed: it asks first", Hint: "without a terminal, say --yes; --dry-run only shows the plan"}
	case ask:
		if yes, err := a.Confirm(ctx, "do it? [y/N] ", false); err != nil || !yes {
			return errors.Join(err, &app.ExitError{Code: app.ExitFailed, Text: "nothing was changed"})
		}
	}
	done, err := h.RestoreFiles(ctx, id, session.RestoreRequested{Target: to.Tree, To: to.To, Paths: paths, Force: f.force, Undo: to.Undo})
	if err != nil {
		return interrupted(ctx, h, id, err)
	}
	if st, err := h.State(ctx, id); err == nil && st.Turn != nil {
		a.Note("turn %d of session %s stays open: when it goes on, the model is told first", st.Turn.N, id)
	}
	return f.told(a, id, to, done, beforeOf(ctx, h, id))
}

// roomFirst tells of a full disk before a plan is shown and asked about, if it is to be done at all.
func roomFirst(h *homes.Home, look bool) error {
	if look {
		return nil
	}
	return h.Room()
}

// beforeOf is the event up to which the log has the files as they were before the newest restore; 0: it cannot be found.
func beforeOf(ctx context.Context, h *homes.Home, id string) int64 {
	kinds := []store.Kind{session.KindRestoreStarted}
	for ev, err := range h.Range(ctx, id, homes.Range{Kinds: kinds, Last: 1}) {
		if err == nil {
			return ev.Seq - 1
		}
	}
	return 0
}

// below makes paths relative to the session's directory.
func (f *flags) below(a *app.App, dir string) (out []string, err error) {
	for _, p := range f.paths {
		abs := p
		if !filepath.IsAbs(p) {
			abs = filepath.Join(dir, p)
		}
		rel, err := filepath.Rel(dir, abs)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") || rel == "." {
			return nil, app.UsageError("%q is no path below %s, where the session works", p, a.Tilde(dir))
		}
		out = append(out, filepath.ToSlash(rel))
	}
	return out, nil
}

func (f *flags) nothing(a *app.App, id string, to homes.FilePoint, plan *workspace.Planned) error {
	if f.asJSON {
		return a.JSON(planView(id, to, plan))
	}
	f.show(a, id, to, plan)
	if plan.Others > 0 && !f.force {
		a.Hint("--force restores what somebody else changed, too; perdure diff %s %s shows it", id, momentOf(to))
	}
	return nil
}

// Bounds of a plan on the screen.
const (
	maxShown = 200 // paths
	maxPath  = 300 // characters of each
)

// show prints a plan.
func (f *flags) show(a *app.App, id string, to homes.FilePoint, plan *workspace.Planned) {
	a.Linef("session %s, %s, to %s: %s", id, plain.Line(a.Tilde(to.Dir), maxPath), plain.Line(to.To, maxPath), plan)
	f.list(a, plan)
}

// list prints what a plan does.
func (f *flags) list(a *app.App, plan *workspace.Planned) {
	marks := map[restore.Verb]string{restore.Added: "+", restore.Modified: "~", restore.Deleted: "-"}
	for i, c := range plan.Changes {
		if i == maxShown {
			a.Linef("  … and %d more", len(plan.Changes)-maxShown)
			break
		}
		both := ""
		if c.Joined {
			both = joinedWords
		}
		a.Linef("  %s %s%s", marks[c.Verb()], plain.Line(c.Path, maxPath), both)
	}
	f.stays(a, plan)
}

// stays prints what a plan leaves alone, and why.
func (f *flags) stays(a *app.App, plan *workspace.Planned) {
	f.named = map[string]bool{}
	for i, k := range plan.Kept {
		if i == maxShown {
			a.Linef("  … and %d more that stay", len(plan.Kept)-maxShown)
			break
		}
		f.named[k.Path] = true
		verb := "stays"
		if k.Why == restore.NotStored { // it may be gone altogether
			verb = "does not come back"
		}
		a.Linef("  = %s %s: %s", plain.Line(k.Path, maxPath), verb, k.Why)
	}
}

// joined prints what is not plain about a plan that nobody is asked about: files that both sides have changed.
func (f *flags) joined(a *app.App, plan *workspace.Planned) {
	for _, c := range plan.Changes {
		if c.Joined {
			a.Linef("  ~ %s%s", plain.Line(c.Path, maxPath), joinedWords)
		}
	}
	f.stays(a, plan)
}

const joinedWords = ": changed by both in different lines, has both now"

// outcome is what became of a restore.
type outcome struct {
	Session string `json:"session"`
	To      string `json:"to"`
	Dir     string `json:"dir"`
	Done    bool   `json:"done"`
	session.RestoreCounts
	Changes []changeView `json:"changes,omitempty"`
	Kept    []string     `json:"kept,omitempty"`
	Others  int          `json:"others,omitempty"` // files that only somebody else changed since, which stay
}

type changeView struct {
	Path string `json:"path"`
	What string `json:"what"`
	Both bool   `json:"both,omitempty"` // changed by both sides in different lines: it gets what both made of it
}

func planView(id string, to homes.FilePoint, plan *workspace.Planned) outcome {
	added, modified, deleted, kept := plan.Counts()
	o := outcome{Session: id, To: to.To, Dir: to.Dir, Others: plan.Others, RestoreCounts: session.RestoreCounts{
		Added: int64(added), Modified: int64(modified), Deleted: int64(deleted), Conflicts: int64(kept),
	}}
	for _, c := range plan.Changes {
		o.Changes = append(o.Changes, changeView{c.Path, string(c.Verb()), c.Joined})
	}
	for _, k := range plan.Kept {
		o.Kept = append(o.Kept, k.Path)
	}
	return o
}

func (f *flags) told(a *app.App, id string, to homes.FilePoint, done session.FilesRestored, before int64) error {
	if f.asJSON {
		return a.JSON(outcome{Session: id, To: to.To, Dir: to.Dir, Done: true, RestoreCounts: done.RestoreCounts, Kept: done.Kept})
	}
	back := ""
	if to.Undo == nil {
		back = fmt.Sprintf("; perdure undo %s takes this back", id)
	} else if before > 0 {
		back = fmt.Sprintf("; perdure restore %s %d --files takes this back", id, before)
	}
	a.Linef("restored: %s, in %s, to %s%s", done.RestoreCounts, plain.Line(a.Tilde(to.Dir), maxPath), plain.Line(to.To, maxPath), back)
	for _, path := range done.Kept {
		if !f.named[path] {
			a.Linef("  = %s was not restored", plain.Line(path, maxPath))
		}
	}
	if len(done.Kept) > 0 {
		a.Hint("perdure restore %s %s --files --force --path PATH brings back what stayed as well", id, momentOf(to))
	}
	return nil
}

// momentOf names a moment as restore takes it: by its event, where that is one of the session's own.
func momentOf(p homes.FilePoint) string {
	name, _ := strings.CutPrefix(p.To, "checkpoint ")
	switch {
	case p.Seq > 0:
		return strconv.FormatInt(p.Seq, 10)
	case p.Seq <= 0 && p.Turn > 0: // of the session that this one was forked from
		return fmt.Sprintf("'turn %d'", p.Turn)
	}
	return name
}

// forkAt makes a fork at the moment, which is what restoring a conversation is: the log stays as it is. It has the files of
// the moment in a directory of its own; where those of the session are of that moment now, it goes on in that directory.
func (f *flags) forkAt(ctx context.Context, a *app.App, h *homes.Home, id string, p homes.FilePoint) error {
	if p.Seq <= 0 {
		return &app.ExitError{Code: app.ExitMissing, Text: "the conversation of that moment is of the session that " + id + " was forked from", Hint: "perdure tree " + id + " shows it: restore that one"}
	}
	seq := p.Seq
	if p.Turn > 0 { // the fork is not to go on with that turn
		before, err := h.BeforeTurn(ctx, id, seq)
		if err != nil {
			return missing(err, id)
		}
		seq = before
	}
	title, err := sessions.ForkName(ctx, h, id, "")
	if err != nil {
		return err
	}
	own, err := h.ForkWith(ctx, id, homes.ForkSpec{Seq: seq, Tree: p.Tree, Title: title, Conversation: f.files})
	if err != nil {
		return err
	}
	a.Note("forked at event %d; perdure -r %s goes on there", own.At, own.Session)
	sessions.TellBranch(a, own, true)
	a.Linef("%s", own.Session)
	return nil
}
