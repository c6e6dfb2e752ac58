package sessions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// forkFlags are those of perdure fork.
type forkFlags struct {
	child, name           string
	count                 int
	conversation, isolate bool
	asJSON                bool
}

// maxForks bounds the forks that one command makes.
const maxForks = 64

// ForkCommand is perdure fork.
func ForkCommand(a *app.App) *cobra.Command {
	f := &forkFlags{}
	c := &cobra.Command{
		Use: "fork [ID[@EVENT|@CHECKPOINT]]", Short: "Branch a session off with its files, at its newest event or an earlier one",
		Long: `Branch a session off: the fork knows what the session knew at that moment, and goes its own way. Without a session it is
the newest one of this directory; its id is printed, with -n those of several forks.

The fork gets the session's files too, as they were at that moment, in a directory of its own; in a git repository that
is a worktree, detached at HEAD. Nothing in it changes the session's files: perdure tree shows the family, perdure diff
A B compares two of it, perdure apply FORK brings the best one's changes back.
With --conversation the fork works in the same directory as the session. So it does where the files cannot be captured
(your home directory, /, a huge tree): that is said, and with --isolate it is an error.`,
		Example: "  perdure fork fix-parser\n  perdure fork fix-parser@before-tests -n 3\n  perdure fork fix-parser@120 --conversation",
		Args:    app.RangeArgs(0, 1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			arg := ""
			if len(args) > 0 {
				arg = args[0]
			}
			parent, seq, err := position(arg)
			if err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				spec := homes.ForkSpec{Seq: seq, Conversation: f.conversation, Isolate: f.isolate || f.count > 1 && !f.conversation}
				var id string
				if len(args) == 0 {
					id, err = a.Newest(ctx, h)
				} else {
					id, spec.Checkpoint, err = forkParent(ctx, a, h, parent, seq)
				}
				if err != nil {
					return err
				}
				return f.run(ctx, a, h, id, spec)
			})
		},
	}
	c.Flags().StringVar(&f.child, "id", "", "give the fork this `NEWID` (letters, digits and . _ -)")
	c.Flags().StringVar(&f.name, "name", "", "name the fork")
	c.Flags().IntVarP(&f.count, "count", "n", 1, "make `N` forks, each with a directory of its own")
	c.Flags().BoolVar(&f.conversation, "conversation", false, "branch the conversation alone: the fork works in the session's directory")
	c.Flags().BoolVar(&f.isolate, "isolate", false, "make no fork where it can have no directory of its own")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object for each fork")
	return c
}

func (f *forkFlags) check(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("id") && !store.ValidID(f.child):
		return store.CheckID(f.child)
	case f.count < 1 || f.count > maxForks:
		return app.UsageError("-n %d: want 1 to %d", f.count, maxForks)
	case f.count > 1 && f.child != "":
		return app.UsageError("--id names one fork: leave it out with -n")
	case f.conversation && f.isolate:
		return app.UsageError("--conversation and --isolate exclude each other")
	case f.name != "":
		return CheckName(f.name)
	}
	return nil
}

// run makes the forks. Those that were made are printed, whatever becomes of the next one.
func (f *forkFlags) run(ctx context.Context, a *app.App, h *homes.Home, id string, spec homes.ForkSpec) error {
	for n := 1; n <= f.count; n++ {
		given := f.name
		if given != "" && n > 1 {
			given = fmt.Sprintf("%s %d", f.name, n)
		}
		title, err := ForkName(ctx, h, id, given)
		if err != nil {
			return err
		}
		spec.ID, spec.Title = f.child, title
		made, err := h.ForkWith(ctx, id, spec)
		if err != nil && ctx.Err() != nil && !errors.Is(err, store.ErrUncertain) {
			if f.count == 1 {
				return errors.New("interrupted: no fork was made, and nothing is left of it")
			}
			return fmt.Errorf("interrupted: %d of %s made, and nothing is left of the next one", n-1, display.Count(int64(f.count), "fork"))
		}
		if err != nil {
			return err
		}
		if spec.Seq != 0 && made.At != spec.Seq && n == 1 {
			a.Note("forked at event %d: at event %d an act was under way", made.At, spec.Seq)
		}
		if f.asJSON {
			if err := a.JSON(forkView{Parent: id, Own: made, Name: title}); err != nil {
				return err
			}
			continue
		}
		TellBranch(a, made, n == 1)
		if made.Dir == "" || !a.Screen || a.Line == nil { // a person at a terminal has just read it
			a.Linef("%s", made.Session)
		}
	}
	if !f.asJSON && f.count > 1 && a.Screen {
		a.Hint("perdure start -r FORK \"PROMPT\" gives one its task, perdure -r FORK opens it; perdure diff %s --forks compares them", id)
	}
	return nil
}

// forkView is a fork as JSON.
type forkView struct {
	Parent string `json:"parent"`
	Name   string `json:"name,omitempty"`
	homes.Own
}

// maxDir bounds a directory's name, in characters.
const maxDir = 1000

// maxNotThere bounds what is named that a copy does not have.
const maxNotThere = 6

// TellBranch says on stderr where a fork works, if it works anywhere.
func TellBranch(a *app.App, own homes.Own, first bool) {
	switch {
	case !own.Tree.IsZero():
		TellOwn(a, own, first)
	case own.Dir != "":
		a.Note("%s works in %s, the directory of the session that it was forked from", own.Session, display.Shown(a.Tilde(own.Dir), maxDir))
	}
	if own.Shared != "" {
		a.Hint("it has none of its own: %s", display.Shown(own.Shared, 300))
	}
}

// TellOwn says on stderr where a session with a directory of its own works; the first time, too, what is not there.
func TellOwn(a *app.App, own homes.Own, first bool) {
	what := "a copy"
	if own.Worktree {
		what = "a git worktree with the files"
	}
	a.Note("%s works in %s, %s of %s", own.Session, display.Shown(a.Tilde(own.Dir), maxDir), what, display.Shown(a.Tilde(own.From), maxDir))
	if !first {
		return
	}
	if own.Plain != "" {
		a.Hint("it has no .git: %s", display.Shown(own.Plain, 300))
	}
	if names := own.NotThere(maxNotThere); names != "" {
		a.Hint("not in it: %s", display.Shown(names, 600))
	}
}

// forkParent finds the session to fork, and the checkpoint if one is named, and looks whether the event is one of it.
func forkParent(ctx context.Context, a *app.App, h *homes.Home, name string, seq int64) (id, checkpoint string, err error) {
	id, err = a.Resolve(ctx, h, name)
	if i := strings.LastIndexByte(name, '@'); err != nil && i > 0 {
		if whole, notFound := a.Resolve(ctx, h, name[:i]); notFound == nil {
			st, err := h.State(ctx, whole)
			if err != nil {
				return "", "", err
			}
			if c, ok := st.Workspace.Checkpoint(name[i+1:]); ok {
				return whole, c.Name, nil
			}
			return "", "", app.UsageError("%q is no event of session %s, and no checkpoint: give its number, as perdure log %s shows it, or a name of perdure checkpoint %s --list", name[i+1:], whole, whole, whole)
		}
	}
	if err != nil {
		return "", "", err
	}
	info, err := h.Store().Get(ctx, id)
	if err == nil && seq > info.Head.Seq {
		err = &app.ExitError{
			Code: app.ExitMissing, Text: fmt.Sprintf("session %s has %s, and no event %d", id, display.Count(info.Head.Seq, "event"), seq),
			Hint: "perdure log " + id + " shows them",
		}
	}
	return id, "", err
}

// maxForkNames bounds the names that are tried for a fork.
const maxForkNames = 1000

// ForkName is the name that a fork gets: the given one, else its parent's with a mark that no other session has, as in
// name (fork 2), so that the parent's name still leads to the parent.
func ForkName(ctx context.Context, h *homes.Home, parent, given string) (string, error) {
	info, err := h.Store().Get(ctx, parent)
	if err != nil || given != "" || info.Heads.Title == "" {
		return given, err
	}
	first := unforked(info.Heads.Title)
	for n := 1; n <= maxForkNames; n++ {
		name := first + " (fork)"
		if n > 1 {
			name = fmt.Sprintf("%s (fork %d)", first, n)
		}
		page, err := h.Store().List(ctx, store.Query{Title: name, Limit: 1})
		if err != nil || len(page.Sessions) == 0 {
			return name, err
		}
	}
	return "", nil // the parent's name
}

// unforked is a name without the marks that forks have: forks of forks are counted, not marked twice.
func unforked(name string) string {
	for {
		before, ok := strings.CutSuffix(name, ")")
		i := strings.LastIndex(before, " (fork")
		if !ok || i <= 0 {
			return name
		}
		switch n := before[i+len(" (fork"):]; {
		case n == "":
		case n[0] != ' ' || len(n) == 1 || strings.Trim(n[1:], "0123456789") != "":
			return name
		}
		name = before[:i]
	}
}

// position cuts ID@SEQ; without a seq it is 0, the head.
func position(arg string) (id string, seq int64, err error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return arg, 0, nil
	}
	digits := arg[i+1:]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return arg, 0, nil // a name may hold an @; what is after it is told if nothing has this name
	}
	seq, err = strconv.ParseInt(digits, 10, 64)
	if err != nil || seq < 1 {
		return "", 0, app.UsageError("%q: events are numbered from 1", arg)
	}
	return arg[:i], seq, nil
}
