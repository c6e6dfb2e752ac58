package notes

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/learn"
)

func acceptCommand(a *app.App, p *place) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use: "accept ID… | --all", Short: "Put proposals into the memory: they are yours from then on",
		Long: `Put proposals into the memory: they are yours from then on, and perdure memory undo takes them back. --all leaves out
what only repeats a tool or another text: name those one by one.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return app.UsageError("learn accept takes the ids of proposals, or --all")
			}
			in, err := p.inbox(a)
			if err != nil {
				return err
			}
			skipped := 0
			if all {
				held, err := in.List()
				if err != nil {
					return err
				}
				for _, one := range held.List {
					switch {
					case one.State != knowledge.ProposalWaits:
					case one.Trusted():
						args = append(args, one.ID)
					default:
						skipped++
					}
				}
			}
			err = each(args, func(id string) error {
				e, err := in.Accept(cmd.Context(), id)
				if err == nil {
					say(a, "%s: %s", id, e.Key)
				}
				return unknownOr(in, id, err)
			})
			if skipped > 0 {
				a.Note("%d only repeat what a tool or another text said, and were left: name them to accept them", skipped)
			}
			return err
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all that wait and that you or the model said")
	return c
}

func unknownOr(in knowledge.Inbox, id string, err error) error {
	if err == nil {
		return nil
	}
	return unknown(in, id, err)
}

// each does something for every id, and gives the first error; the others are done all the same.
func each(ids []string, do func(id string) error) error {
	var first error
	var more []error
	for _, id := range ids {
		switch err := do(id); {
		case err == nil:
		case first == nil:
			first = err
		default:
			more = append(more, err)
		}
	}
	var e *app.ExitError
	if len(more) > 0 && errors.As(first, &e) {
		for _, err := range more {
			e.Text += "; " + err.Error()
		}
		return e
	}
	return errors.Join(append([]error{first}, more...)...)
}

func editProposal(a *app.App, p *place) *cobra.Command {
	return &cobra.Command{
		Use: "edit ID TEXT", Short: "Put a proposal into your own words", Args: app.ExactArgs(2, "the id of a proposal and a text, in quotes; - reads stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := textOf(a, args[1])
			if err != nil {
				return err
			}
			in, err := p.inbox(a)
			if err != nil {
				return err
			}
			_, err = in.Edit(cmd.Context(), args[0], text)
			return unknownOr(in, args[0], err)
		},
	}
}

func refuseCommand(a *app.App, p *place) *cobra.Command {
	return &cobra.Command{
		Use: "refuse ID…", Short: "Take proposals off the list; what they say is not proposed again", Args: app.RangeArgs(1, -1, "the ids of proposals"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := p.inbox(a)
			if err != nil {
				return err
			}
			return each(args, func(id string) error {
				_, err := in.Refuse(cmd.Context(), id)
				return unknownOr(in, id, err)
			})
		},
	}
}

func fromCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "from SESSION", Short: "Look through a session for what is worth proposing, now", Args: app.ExactArgs(1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error { return learnFrom(ctx, a, h, id) })
		},
	}
}

func learnFrom(ctx context.Context, a *app.App, h *homes.Home, id string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	cfg, err := a.KnowledgeConfig(st.Config.Root)
	if err != nil {
		return err
	}
	found, err := learn.Extract(id, learn.Log(ctx, h.Store(), id))
	if err != nil {
		return err
	}
	out, err := learn.Offer(ctx, cfg, found)
	if err != nil {
		return refused(err)
	}
	for _, one := range out.New {
		printProposal(a, one)
	}
	switch {
	case len(found) == 0:
		a.Note("nothing in session %s is tagged [DECISION], [GOTCHA], [REUSE] or [CORRECTION], and no fact of it lasts", id)
	default:
		a.Note("%d proposed, %d left out, %d known already, %d confirm what was noted", len(out.New), out.Left, out.Known, len(out.Confirmed))
	}
	return nil
}
