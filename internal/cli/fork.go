package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
)

func (a *App) forkCommand() *cobra.Command {
	var child, name string
	c := &cobra.Command{
		Use: "fork ID[@SEQ]", Short: "Branch a session off, at its newest event or an earlier one",
		Args: exactArgs(1, "a session"), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("id") && !validID(child) {
				return usageError("%q is no session id: use letters, digits and . _ -, up to 128, beginning with a letter or digit", child)
			}
			if name != "" {
				if err := checkName(name); err != nil {
					return err
				}
			}
			parent, seq, err := position(args[0])
			if err != nil {
				return err
			}
			return a.onSession(cmd, parent, func(ctx context.Context, h *perdure.Home, id string) error {
				made, at, err := h.Fork(ctx, id, seq, child, name)
				if err != nil {
					return err
				}
				if seq != 0 && at != seq {
					a.note("forked at event %d: at event %d an act was under way", at, seq)
				}
				a.linef("%s", made)
				return nil
			})
		},
	}
	c.Flags().StringVar(&child, "id", "", "give the fork this `NEWID` (letters, digits and . _ -)")
	c.Flags().StringVar(&name, "name", "", "name the fork")
	return c
}

// position cuts ID@SEQ; without a seq it is 0, the head.
func position(arg string) (id string, seq int64, err error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return arg, 0, nil
	}
	digits := arg[i+1:]
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return arg, 0, nil // a name may hold an @
	}
	seq, err = strconv.ParseInt(digits, 10, 64)
	if err != nil || seq < 1 {
		return "", 0, usageError("%q: events are numbered from 1", arg)
	}
	return arg[:i], seq, nil
}
