package plans

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/workflow"
)

// tries bounds how often a change is made again for a plan that the agent changed meanwhile.
const tries = 10

// change brings a person's change to a session, and then into its state file.
func change(ctx context.Context, a *app.App, h *homes.Home, id string, make func(*session.PlanEdited) error) error {
	if err := bring(ctx, a, h, id, func(_ *session.State, b *session.PlanEdited) error { return make(b) }); err != nil {
		return err
	}
	return refresh(ctx, a, h, id)
}

// bring brings a change to a session: it is made for the plan as it is, and made again if that changed before the session
// took it.
func bring(ctx context.Context, a *app.App, h *homes.Home, id string, make func(*session.State, *session.PlanEdited) error) error {
	for try := 1; ; try++ {
		st, err := h.State(ctx, id)
		if err != nil {
			return err
		}
		b := &session.PlanEdited{Over: session.PlanDigest(st.Plan), Steps: known(st.Plan)}
		if err := make(st, b); err != nil {
			return err
		}
		if len(b.Facts) == 0 && slices.Equal(b.Steps, st.Plan) {
			a.Note("session %s: the plan is so already", id)
			return nil
		}
		err = a.Deliver(ctx, h, id, b)
		if errors.Is(err, engine.ErrRefused) && strings.Contains(err.Error(), session.PlanChanged) && try < tries {
			continue
		}
		if err != nil {
			return err
		}
		for _, c := range session.DiffPlan(st.Plan, b.Steps) {
			a.Note("%s", display.Shown(c.String(), 300))
		}
		return nil
	}
}

// known is a plan in which every state is one of ours: a program may have set any word.
func known(plan []session.Step) []session.Step {
	out := slices.Clone(plan)
	for i, s := range out {
		status, ok := session.ParseStepStatus(string(s.Status))
		if out[i].Status = status; !ok {
			out[i].Status = session.StepPlanned
		}
	}
	return out
}

// refresh brings the state file up to date, where there is one.
func refresh(ctx context.Context, a *app.App, h *homes.Home, id string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	cfg, err := places(a, st)
	if err != nil {
		return nil //nolint:nilerr // the directory is gone, and the file with it
	}
	if there, err := workflow.There(cfg); err != nil || !there {
		return err
	}
	_, err = workflow.Save(cfg, st)
	if kept := new(workflow.KeptError); errors.As(err, &kept) {
		a.Note("%v", kept)
		return nil
	}
	return err
}

// number reads which step is meant, from 1.
func number(word string, most int) (int, error) {
	n, err := strconv.Atoi(word)
	switch {
	case most == 0:
		return 0, &app.ExitError{Code: app.ExitMissing, Text: "the plan has no steps", Hint: "perdure plan ID add TEXT adds one"}
	case err != nil || n < 1 || n > most:
		return 0, app.UsageError("step %s: want a number from 1 to %d", display.Line(word, 40), most)
	}
	return n, nil
}

// chosen finds a step by its number, and, if the plan changed since, by its words.
type chosen struct {
	word, content string
}

func (c *chosen) in(plan []session.Step) (int, error) {
	if c.content != "" {
		i := slices.IndexFunc(plan, func(s session.Step) bool { return s.Content == c.content })
		if i < 0 {
			return 0, &app.ExitError{Code: app.ExitFailed, Text: "the agent took that step out of the plan meanwhile", Hint: "perdure plan ID shows what it is now"}
		}
		return i, nil
	}
	n, err := number(c.word, len(plan))
	if err == nil {
		c.content = plan[n-1].Content
	}
	return n - 1, err
}

func setCommand(a *app.App) *cobra.Command {
	var output, blocker, reason string
	c := &cobra.Command{
		Use: "set ID N STATUS", Short: "Say where a step stands, and what is to be said about it",
		Long: `STATUS is ` + statusWords() + `; todo, pending, in_progress and completed are understood too.
A flag that is given as "" takes out what the step said. A step that is done or executing no longer names a blocker.`,
		Example: "  perdure plan build set 2 done --output dist/app\n  perdure plan build set 3 blocked --blocker \"the staging key\"",
		Args:    app.ExactArgs(3, "a session, the number of a step, and a status"),
		RunE: func(cmd *cobra.Command, args []string) error {
			status, ok := session.ParseStepStatus(args[2])
			if !ok {
				return app.UsageError("there is no status %s: want %s", display.Line(args[2], 40), statusWords())
			}
			which := chosen{word: args[1]}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return change(ctx, a, h, id, func(b *session.PlanEdited) error {
					i, err := which.in(b.Steps)
					if err != nil {
						return err
					}
					s := &b.Steps[i]
					if s.Status = status; status == session.StepDone || status == session.StepExecuting {
						s.Blocker = ""
					}
					for name, field := range map[string]*string{"output": &s.Output, "blocker": &s.Blocker, "reason": &s.Reason} {
						if cmd.Flags().Changed(name) {
							*field = map[string]string{"output": output, "blocker": blocker, "reason": reason}[name]
						}
					}
					return fits(b)
				})
			})
		},
	}
	c.Flags().StringVar(&output, "output", "", "what came of it, such as a file: `TEXT`")
	c.Flags().StringVar(&blocker, "blocker", "", "what it waits for: `TEXT`")
	c.Flags().StringVar(&reason, "reason", "", "why it stands so: `TEXT`")
	return c
}

func statusWords() string {
	var words []string
	for _, s := range session.StepStatuses() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// fits refuses here what the session would refuse, as a fault of the command line.
func fits(b *session.PlanEdited) error {
	if err := session.CheckPlan(b.Steps); err != nil {
		return app.UsageError("%v", err)
	}
	return nil
}

func addCommand(a *app.App) *cobra.Command {
	at := 0
	c := &cobra.Command{
		Use: "add ID TEXT", Short: "Add a step, at the end or with --at", Args: app.ExactArgs(2, "a session and one text, in quotes"),
		Example: "  perdure plan build add \"load test\" --at 4",
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(args[1]) == "" {
				return app.UsageError("a step cannot be empty")
			}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return change(ctx, a, h, id, func(b *session.PlanEdited) error {
					place := len(b.Steps) + 1
					if cmd.Flags().Changed("at") {
						if place = at; at < 1 || at > len(b.Steps)+1 {
							return app.UsageError("--at %d: want a number from 1 to %d", at, len(b.Steps)+1)
						}
					}
					b.Steps = slices.Insert(b.Steps, place-1, session.Step{Content: strings.TrimSpace(args[1]), Status: session.StepPlanned})
					return fits(b)
				})
			})
		},
	}
	c.Flags().IntVar(&at, "at", 0, "its number `N`; those from there on follow it")
	return c
}

func removeCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID N", Short: "Take a step out", Args: app.ExactArgs(2, "a session and the number of a step"), Aliases: []string{"rm"},
		RunE: func(cmd *cobra.Command, args []string) error {
			which := chosen{word: args[1]}
			return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
				return change(ctx, a, h, id, func(b *session.PlanEdited) error {
					i, err := which.in(b.Steps)
					if err == nil {
						b.Steps = slices.Delete(b.Steps, i, i+1)
					}
					return err
				})
			})
		},
	}
}
