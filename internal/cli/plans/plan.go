// Package plans are the commands about a session's workflow state: its plan, what is known about it, what it did outside
// of itself, and the state file in which people edit it.
package plans

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
)

// Command is perdure plan.
func Command(a *app.App) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "plan [ID]", Short: "Show a session's plan, what is known, and what it did outside; set, add, remove, edit change it",
		Long: `The plan of a session, with where each step stands; what failed, what was decided and found, and which constraints hold;
and the side effects that happened: whether each is safe to repeat, and what becomes of it after a restart. Without ID it
is the newest session of this directory.

A step is planned, awaiting_approval, executing, waiting_external, done, failed or blocked. What you change is told to the
model in its next request, also while another process runs the session. The plan lies in state.json beside the memory
(perdure memory --help): you may edit that file too; diff shows what you changed, accept takes it, refuse does not.`,
		Example: `  perdure plan                                 # the newest session of this directory
  perdure plan build set 2 blocked --blocker "the key"
  perdure plan build add "load test" --at 4
  perdure plan build edit                      # in $EDITOR, as a checklist
  perdure plan diff build                      # what you changed in state.json`,
		Args: app.RangeArgs(0, 1, "a session, or nothing for the newest one of this directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onPlan(a, cmd, args, func(ctx context.Context, h *homes.Home, id string) error {
				st, err := h.State(ctx, id)
				if err != nil {
					return err
				}
				o := overviewOf(st)
				o.File = fileState(a, st)
				if asJSON {
					return a.JSON(o)
				}
				return a.Paged(func() error { show(a, st, o); return nil })
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.AddCommand(setCommand(a), addCommand(a), removeCommand(a), editCommand(a), diffCommand(a), acceptCommand(a), refuseCommand(a))
	return c
}

// onPlan runs a command on the session that is named first, else on the newest one of this directory.
func onPlan(a *app.App, cmd *cobra.Command, args []string, do func(ctx context.Context, h *homes.Home, id string) error) error {
	if len(args) > 0 {
		return a.OnSession(cmd, args[0], do)
	}
	return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
		id, err := a.Newest(ctx, h)
		if err != nil {
			return err
		}
		return do(ctx, h, id)
	})
}

// places says where the state file of a session lies: with the memory of the directory that it was opened in.
func places(a *app.App, st *session.State) (knowledge.Config, error) {
	dir := st.Config.Root
	if dir == "" {
		dir = st.Cwd
	}
	return a.KnowledgeOf(dir)
}

// fileState says how the state file of a session stands, in words; empty where there is nothing to say.
func fileState(a *app.App, st *session.State) string {
	cfg, err := places(a, st)
	if err != nil {
		return ""
	}
	switch p, err := workflow.Propose(cfg, st); {
	case err != nil:
		return err.Error()
	case p != nil:
		return p.File + " was changed by hand: perdure plan diff " + st.ID + " shows how, accept or refuse decides"
	}
	return ""
}
