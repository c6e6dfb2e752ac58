package sessions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// ForkCommand is perdure fork.
func ForkCommand(a *app.App) *cobra.Command {
	var child, name string
	c := &cobra.Command{
		Use: "fork ID[@SEQ]", Short: "Branch a session off, at its newest event or an earlier one",
		Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("id") && !store.ValidID(child) {
				return store.CheckID(child)
			}
			if name != "" {
				if err := CheckName(name); err != nil {
					return err
				}
			}
			parent, seq, err := position(args[0])
			if err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				id, err := forkParent(ctx, a, h, parent, seq)
				if err != nil {
					return err
				}
				title, err := ForkName(ctx, h, id, name)
				if err != nil {
					return err
				}
				made, at, err := h.Fork(ctx, id, seq, child, title)
				if err != nil {
					return err
				}
				if seq != 0 && at != seq {
					a.Note("forked at event %d: at event %d an act was under way", at, seq)
				}
				a.Linef("%s", made)
				return nil
			})
		},
	}
	c.Flags().StringVar(&child, "id", "", "give the fork this `NEWID` (letters, digits and . _ -)")
	c.Flags().StringVar(&name, "name", "", "name the fork")
	return c
}

// forkParent finds the session to fork, and looks whether the event is one of it.
func forkParent(ctx context.Context, a *app.App, h *homes.Home, name string, seq int64) (string, error) {
	id, err := a.Resolve(ctx, h, name)
	if i := strings.LastIndexByte(name, '@'); err != nil && i > 0 {
		if whole, notFound := a.Resolve(ctx, h, name[:i]); notFound == nil {
			return "", app.UsageError("%q is no event of session %s: give its number, as perdure log %s shows it", name[i+1:], whole, whole)
		}
	}
	if err != nil {
		return "", err
	}
	info, err := h.Store().Get(ctx, id)
	if err == nil && seq > info.Head.Seq {
		err = &app.ExitError{
			Code: app.ExitMissing, Text: fmt.Sprintf("session %s has %s, and no event %d", id, display.Count(info.Head.Seq, "event"), seq),
			Hint: "perdure log " + id + " shows them",
		}
	}
	return id, err
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
