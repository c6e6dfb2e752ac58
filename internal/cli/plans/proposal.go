package plans

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
)

// difference is what perdure plan diff --json prints.
type difference struct {
	Session string               `json:"session"`
	File    string               `json:"file"`
	Changes []session.StepChange `json:"changes"`
	Noted   []session.Fact       `json:"noted"`
	Kept    []string             `json:"kept"`
	Unknown []string             `json:"not_understood"`
}

// onFile runs a command on the session of a state file: the one that is named, else the one that the file of this
// directory names, else the newest one here. Without a change by hand, nothing says so. A file that cannot be read is an
// error.
func onFile(a *app.App, cmd *cobra.Command, args []string, do func(ctx context.Context, h *homes.Home, st *session.State, cfg knowledge.Config, p *workflow.Proposal) error) error {
	return onAnyFile(a, cmd, args, func(ctx context.Context, h *homes.Home, st *session.State, cfg knowledge.Config, p *workflow.Proposal, broken error) error {
		if broken != nil {
			return broken
		}
		return do(ctx, h, st, cfg, p)
	})
}

// onAnyFile is onFile for who takes a file that cannot be read, too: broken says why, and the proposal may be nil.
func onAnyFile(a *app.App, cmd *cobra.Command, args []string, do func(ctx context.Context, h *homes.Home, st *session.State, cfg knowledge.Config, p *workflow.Proposal, broken error) error) error {
	if len(args) == 0 {
		if cfg, err := a.KnowledgeOf(""); err == nil {
			if id, err := workflow.Owner(cfg); err == nil && id != "" && exists(cmd.Context(), a, id) {
				args = []string{id}
			}
		}
	}
	return onPlan(a, cmd, args, func(ctx context.Context, h *homes.Home, id string) error {
		st, err := h.State(ctx, id)
		if err != nil {
			return err
		}
		cfg, err := places(a, st)
		if err != nil {
			return err
		}
		p, err := workflow.Propose(cfg, st)
		if err != nil {
			hint := "put the file right, or remove it: it is written anew"
			if p != nil {
				hint = "put the file right, or have it as it was: perdure plan refuse " + st.ID
			}
			err = &app.ExitError{Code: app.ExitFailed, Text: err.Error(), Hint: hint}
		}
		return do(ctx, h, st, cfg, p, err)
	})
}

// exists reports whether a home has a session of exactly this id.
func exists(ctx context.Context, a *app.App, id string) bool {
	err := a.With(ctx, func(h *homes.Home) error {
		_, err := h.Store().Get(ctx, id)
		return err
	})
	return err == nil
}

func diffCommand(a *app.App) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use: "diff [ID]", Short: "Show what you changed in state.json, compared with the session as it is",
		Args: app.RangeArgs(0, 1, "a session, or nothing for the one that the file names"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onFile(a, cmd, args, func(_ context.Context, _ *homes.Home, st *session.State, _ knowledge.Config, p *workflow.Proposal) error {
				if asJSON {
					return a.JSON(differenceOf(st, p))
				}
				if p == nil {
					a.Note("session %s: the state file was not changed by hand", st.ID)
					return nil
				}
				showDifference(a, st, p)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func differenceOf(st *session.State, p *workflow.Proposal) difference {
	d := difference{Session: st.ID, Changes: []session.StepChange{}, Noted: []session.Fact{}, Kept: []string{}, Unknown: []string{}}
	if p != nil {
		d.File = p.File
		d.Changes, d.Noted = append(d.Changes, p.Changes...), append(d.Noted, p.Facts...)
		d.Kept, d.Unknown = append(d.Kept, p.Kept...), append(d.Unknown, p.Unknown...)
	}
	return d
}

func showDifference(a *app.App, st *session.State, p *workflow.Proposal) {
	a.Linef("%s", display.Shown(p.File, 500))
	if p.Nothing() {
		a.Linef("nothing that session %s would take", st.ID)
	}
	for _, c := range p.Changes {
		for _, side := range []struct {
			mark string
			step *session.Step
			n    int
		}{{"-", c.Before, c.Was}, {"+", c.After, c.N}} {
			if side.step != nil {
				a.Linef("%s %d. %s", side.mark, side.n, display.Shown(side.step.Line(), 500))
			}
		}
	}
	for _, f := range p.Facts {
		a.Linef("+ %s: %s", f.Kind, display.Shown(f.String(), 500))
	}
	for _, k := range p.Kept {
		a.Linef("  stays in the session: %s", display.Shown(k, 500))
	}
	for _, u := range p.Unknown {
		a.Linef("  %s", display.Shown(u, 500))
	}
}

func acceptCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "accept [ID]", Short: "Take what you changed in state.json into the session; the model is told",
		Args: app.RangeArgs(0, 1, "a session, or nothing for the one that the file names"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onFile(a, cmd, args, func(ctx context.Context, h *homes.Home, st *session.State, cfg knowledge.Config, p *workflow.Proposal) error {
				if p == nil {
					return &app.ExitError{Code: app.ExitFailed, Text: "the state file of session " + st.ID + " was not changed by hand"}
				}
				return accept(ctx, a, h, st.ID, cfg, p)
			})
		},
	}
}

// accept takes a proposal, then tells the file. After a crash between the two it is asked for again: what was taken is not
// taken twice.
func accept(ctx context.Context, a *app.App, h *homes.Home, id string, cfg knowledge.Config, p *workflow.Proposal) error {
	shown := p
	err := bring(ctx, a, h, id, func(st *session.State, b *session.PlanEdited) error {
		again, err := workflow.Propose(cfg, st)
		switch {
		case err != nil:
			return err
		case again == nil || !again.SameFile(shown):
			return &app.ExitError{Code: app.ExitFailed, Text: "the file changed meanwhile", Hint: "perdure plan diff " + id + " shows it again"}
		}
		b.Steps, b.Facts, b.From = again.Steps, again.Facts, again.File
		if again.Nothing() {
			b.Steps = slices.Clone(st.Plan)
		}
		return nil
	})
	if err == nil {
		err = shown.Settle(cfg, false)
	}
	if errors.Is(err, knowledge.ErrChanged) {
		return &app.ExitError{Code: app.ExitFailed, Text: "it was taken, and the file was changed again since", Hint: "perdure plan diff " + id + " shows that"}
	}
	if err != nil {
		return err
	}
	return refresh(ctx, a, h, id)
}

func refuseCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "refuse [ID]", Short: "Put state.json back as it was; what you wrote stays in refused-state.json",
		Args: app.RangeArgs(0, 1, "a session, or nothing for the one that the file names"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onAnyFile(a, cmd, args, func(ctx context.Context, h *homes.Home, st *session.State, cfg knowledge.Config, p *workflow.Proposal, broken error) error {
				switch {
				case p == nil && broken != nil:
					return broken
				case p == nil:
					return &app.ExitError{Code: app.ExitFailed, Text: "the state file of session " + st.ID + " was not changed by hand"}
				}
				if err := p.Settle(cfg, true); err != nil {
					return err
				}
				return refresh(ctx, a, h, st.ID)
			})
		},
	}
}
