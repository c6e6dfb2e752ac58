package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/background"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// deleteFlags say what is deleted when no session is named.
type deleteFlags struct {
	olderThan, lifecycle string
	keepLast             int
	yes, dryRun          bool

	changed func(string) bool
	before  time.Time // from olderThan
}

// DeleteCommand is perdure delete.
func DeleteCommand(a *app.App) *cobra.Command {
	f := &deleteFlags{}
	c := &cobra.Command{
		Use:   "delete ID... | --older-than AGE | --lifecycle WORD | --keep-last N",
		Short: "Delete sessions with their logs, outputs and commands that still run, for good",
		Long: `Delete sessions for good: their logs, their outputs, their directories in the home. Their
commands that still run are ended. What the database held of them is overwritten, and the
space given back. A deletion that is interrupted is finished by the next command.
What was kept of their files, and no other session needs, goes with the next sweep:
perdure du --sweep.

Sessions are named, or selected by filters, which must all hold; a selected session that is
in use, or that a session which stays was forked from, is left alone.

What a session left to later ones stays: its handoffs, its lines in the project's journal and what
it noted in the memory. The files of its handoffs are named.`,
		Args: app.RangeArgs(0, -1, "sessions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.changed = cmd.Flags().Changed
			if err := f.check(a.Now(), args); err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return deleteSessions(ctx, a, h, f, args) })
		},
	}
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would go, and change nothing")
	c.Flags().StringVar(&f.olderThan, "older-than", "", "select sessions without a new event for `AGE`, such as 30d, 2w or 12h")
	c.Flags().StringVar(&f.lifecycle, "lifecycle", "", "select sessions that are `WORD`: open, paused, closed or archived")
	c.Flags().IntVar(&f.keepLast, "keep-last", 0, "select all but the newest `N` of those that the other filters select")
	return c
}

func (f *deleteFlags) check(now time.Time, args []string) error {
	filtered := f.changed("older-than") || f.changed("lifecycle") || f.changed("keep-last")
	switch {
	case filtered && len(args) > 0:
		return app.UsageError("name sessions or give filters, not both")
	case !filtered && len(args) == 0:
		return app.UsageError("which sessions? name them, or give --older-than, --lifecycle or --keep-last")
	case f.keepLast < 0:
		return app.UsageError("--keep-last %d: want 0 or more", f.keepLast)
	case f.changed("lifecycle") && !slices.Contains([]string{"open", "paused", "closed", "archived"}, f.lifecycle):
		return app.UsageError("lifecycle %q: want open, paused, closed or archived", f.lifecycle)
	}
	if f.changed("older-than") {
		age, err := parseAge(f.olderThan)
		if err != nil {
			return err
		}
		f.before = now.Add(-age)
	}
	return nil
}

// parseAge reads a length of time in days or weeks, or as Go does.
func parseAge(text string) (time.Duration, error) {
	units := map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	for unit, length := range units {
		digits, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.Atoi(digits); ok && err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n) * length, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, app.UsageError("--older-than %q: want an age such as 30d, 2w or 12h", text)
}

func deleteSessions(ctx context.Context, a *app.App, h *homes.Home, f *deleteFlags, args []string) error {
	plan, err := deletionOf(ctx, a, h, f, args)
	switch {
	case err != nil:
		return err
	case len(plan) == 0:
		a.Note("no session is selected; nothing was deleted")
		return nil
	case f.dryRun:
		for _, d := range plan {
			a.Linef("%s", deletionLine(ctx, a, h, d))
		}
		return nil
	case !f.yes:
		if err := confirm(ctx, a, h, plan); err != nil {
			return err
		}
	}
	ids := make([]string, len(plan))
	for i, d := range plan {
		ids[i] = d.ID
		if err := endSupervisor(ctx, a, h, d.ID); err != nil {
			return err
		}
	}
	left := handoffsOf(a, plan)
	err = h.Delete(ctx, ids...)
	var children *store.ChildrenError
	if errors.As(err, &children) {
		return &app.ExitError{Code: app.ExitFailed, Text: children.Error() + "; nothing was deleted", Hint: "they need its log: name them too"}
	}
	if err == nil {
		a.Note("%s deleted", display.Count(int64(len(ids)), "session"))
		for _, path := range left {
			a.Hint("a handoff with words of it stays: %s", display.Shown(path, 500))
		}
	}
	return err
}

// maxLeft bounds how many files a deletion names.
const maxLeft = 100

// handoffsOf are the files that hold handoffs of sessions, where these lie in their directories or in the home, at most
// 100. What cannot be read is not named.
func handoffsOf(a *app.App, plan []view.Deletion) (out []string) {
	for _, d := range plan {
		m, err := a.Knowledge(d.Heads.Cwd)
		if d.Heads.Cwd == "" || err != nil {
			continue
		}
		lying, _ := m.Handoffs().All()
		past, _ := m.Handoffs().History()
		for _, f := range append(lying, past...) {
			if f.Session == d.ID && len(out) < maxLeft {
				out = append(out, f.Path)
			}
		}
	}
	return out
}

// endSupervisor ends what runs a session in the background, in order: it is paused and its turn cancelled, which its
// supervisor obeys.
func endSupervisor(ctx context.Context, a *app.App, h *homes.Home, id string) error {
	if background.Supervises(h, id) {
		for _, body := range []session.Body{&session.LifecycleSet{To: session.LifecyclePaused}, &session.CancelRequested{}} {
			err := a.Deliver(ctx, h, id, body)
			if err != nil && !errors.Is(err, engine.ErrRefused) { // it is paused, or has no turn
				return err
			}
		}
	}
	return background.Keeper{App: a, Home: h}.End(ctx, id)
}

// deletionOf looks at the named sessions, or at those that the filters select.
func deletionOf(ctx context.Context, a *app.App, h *homes.Home, f *deleteFlags, args []string) (plan []view.Deletion, err error) {
	ids := make([]string, len(args))
	for i, name := range args {
		if ids[i], err = a.Resolve(ctx, h, name); err != nil {
			return nil, err
		}
	}
	if len(args) == 0 {
		if ids, err = f.selected(ctx, h); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		d, err := h.PlanDelete(ctx, id)
		if err != nil {
			return nil, err
		}
		plan = append(plan, d)
	}
	if len(args) == 0 {
		plan = withoutNeeded(a, plan)
	}
	return plan, nil
}

// selected gives the sessions that the filters select.
func (f *deleteFlags) selected(ctx context.Context, h *homes.Home) (ids []string, err error) {
	seen := 0
	err = app.EachSession(ctx, h, store.Query{Lifecycle: f.lifecycle}, func(s store.Info) error {
		if f.changed("older-than") && s.Updated > f.before.UnixMilli() {
			return nil
		}
		if seen++; seen > f.keepLast {
			ids = append(ids, s.ID)
		}
		return nil
	})
	return ids, err
}

// withoutNeeded leaves out what is in use, and what sessions that stay were forked from, and names it.
func withoutNeeded(a *app.App, plan []view.Deletion) []view.Deletion {
	for again := true; again; {
		going := map[string]bool{}
		for _, d := range plan {
			going[d.ID] = true
		}
		n := len(plan)
		plan = slices.DeleteFunc(plan, func(d view.Deletion) bool {
			if d.Holder != nil && d.Holder.Alive != store.Dead {
				a.Note("left alone: %s is in use by pid %d on %s", d.ID, d.Holder.PID, d.Holder.Host)
				return true
			}
			i := slices.IndexFunc(d.Children, func(id string) bool { return !going[id] })
			if i >= 0 {
				a.Note("left alone: %s was forked into %s, which stays", d.ID, d.Children[i])
			}
			return i >= 0
		})
		again = len(plan) < n
	}
	return plan
}

// maxChangedShown bounds the names of changed files in a plan, in characters.
const maxChangedShown = 200

// deletionLine says what goes with a session.
func deletionLine(ctx context.Context, a *app.App, h *homes.Home, d view.Deletion) string {
	line := fmt.Sprintf("%s, %s, last changed %s", a.Known(d.Info), display.Count(d.Head.Seq, "event"), a.Since(d.Updated))
	var running []string
	for _, r := range d.Running {
		name := r.Task
		if name == "" {
			name = "the command of act " + r.Act
		}
		running = append(running, fmt.Sprintf("%s (pid %d)", name, r.PID))
	}
	if len(running) > 0 {
		line += "; ends " + strings.Join(running, ", ")
	}
	if d.Dir != "" {
		line += "; removes its directory " + a.Tilde(d.Dir)
	}
	if len(d.Changed) > 0 {
		line += ", in which " + display.Shown(strings.Join(d.Changed, ", "), maxChangedShown) + " changed and will be lost unless perdure apply " + d.ID + " was run"
	}
	if d.Dir != "" {
		for _, c := range h.CommitsOf(ctx, d.ID) {
			line += fmt.Sprintf("; with it goes %s that no branch has: git branch NAME %.12s, in %s, keeps it", display.Count(int64(c.N), "commit"), c.Newest, display.Shown(a.Tilde(c.Repo), maxDir))
		}
	}
	return line
}

// confirm asks a person; without one there is nobody to ask. A signal ends the question at once.
func confirm(ctx context.Context, a *app.App, h *homes.Home, plan []view.Deletion) error {
	if !a.Asks {
		return &app.ExitError{Code: app.ExitUsage, Text: "delete is for good and asks first", Hint: "without a terminal, say --yes; --dry-run prints what would go"}
	}
	question := "delete this session for good? [y/N] "
	if len(plan) > 1 {
		question = fmt.Sprintf("delete these %d sessions for good? [y/N] ", len(plan))
	}
	for _, d := range plan {
		a.Hint("%s", deletionLine(ctx, a, h, d))
	}
	answer, err := a.Ask(ctx, question)
	if err != nil {
		return err
	}
	switch strings.ToLower(answer) {
	case "y", "yes":
		return nil
	}
	return &app.ExitError{Code: app.ExitFailed, Text: "nothing was deleted"}
}
