package tasks

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// restartPolicy reads a word for what becomes of a task after a reboot; never is the empty policy.
func restartPolicy(word string) (string, error) {
	switch word {
	case "never":
		return "", nil
	case session.RestartOnReboot:
		return word, nil
	}
	return "", app.UsageError("restart policy %q: use never or %s", word, session.RestartOnReboot)
}

func restartPolicyCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "restart-policy [SESSION] TASK never|on-reboot", Short: "Say whether a task runs again after a reboot",
		Long: "Grants, or withdraws, that this very command runs again in its directory after the machine restarted. Rules are\n" +
			"asked again then: a deny rule or plan mode keeps it down. No session can grant this to itself.",
		Example: "  perdure task restart-policy web on-reboot", Args: app.RangeArgs(2, 3, "a task, perhaps after its session, and a policy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			word := args[len(args)-1]
			policy, err := restartPolicy(word)
			if err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				t, _, err := taskAnd(ctx, a, h, args, false)
				if err != nil {
					return err
				}
				if err := a.Deliver(ctx, h, t.SessionID, &session.TaskRestartSet{Task: t.ID, Restart: policy}); err != nil {
					return err
				}
				a.Note("after a reboot %s %s is restarted: %s: %s", t.SessionID, t.ID, word, display.Shown(t.Command, display.MaxCell))
				return nil
			})
		},
	}
}

func restoreCommand(a *app.App) *cobra.Command {
	r := &restoring{app: a}
	c := &cobra.Command{
		Use: "restore", Short: "After a reboot, run again what was granted to", Args: app.ExactArgs(0, "no arguments"),
		Long: "Runs every task of every session again that was lost in a reboot and that a human granted it to, with\n" +
			"task run --restart on-reboot or task restart-policy, if today's rules still let it. Meant for a login script or\n" +
			"a systemd user unit; without it, the next resume of a session does the same for that session. A session that is\n" +
			"held is left to its holder. It may be run twice, or twice at once: nothing is started twice.",
		Example: "  perdure task restore",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				if err := app.EachSession(ctx, h, store.Query{}, func(s store.Info) error { return r.session(ctx, h, s.ID) }); err != nil {
					return err
				}
				return r.end()
			})
		},
	}
	c.Flags().BoolVar(&r.json, "json", false, "print one JSON object a task")
	return c
}

// restoring is a walk over all sessions after a reboot.
type restoring struct {
	app    *app.App
	json   bool
	lost   int // tasks that a reboot took
	failed int // sessions of which that cannot be said, and tasks that could not be run again
}

// session restores one session. What is wrong with it does not keep the others down.
func (r *restoring) session(ctx context.Context, h *homes.Home, id string) error {
	a := r.app
	st, err := h.State(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	var lost []view.Task
	var rules []session.Rule
	if err == nil {
		if lost = h.Tasks().LostInReboot(st); len(lost) == 0 {
			return nil
		}
		rules, err = rulesOf(a, st)
	}
	var done []view.Restored
	if err == nil {
		done, err = h.Tasks().Restore(ctx, id, rules)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var held *store.HeldError
	if errors.As(err, &held) {
		a.Note("session %s is held by pid %d: it restores its tasks itself", id, held.Holder.PID)
		return nil
	}
	for _, t := range done {
		if err := r.tell(t); err != nil {
			return err
		}
	}
	if err != nil {
		r.failed++
		a.Note("session %s: %v", id, err)
	}
	return nil
}

func (r *restoring) tell(t view.Restored) error {
	a := r.app
	r.lost++
	if !t.Again && t.Restart != "" {
		r.failed++
	}
	switch {
	case r.json:
		return a.JSON(t)
	case t.Again:
		a.Linef("%s %s runs again, pid %d, attempt %d: %s", t.SessionID, t.ID, t.PID, t.Attempt, display.Shown(t.Command, display.MaxCell))
	default:
		a.Note("%s %s stays down: %s: %s", t.SessionID, t.ID, t.Why, display.Shown(t.Command, display.MaxCell))
		a.QuoteOutput(t.LastOutput)
		if session.HidesCommand(nil, t.Command, t.Cwd) {
			return nil // nor would a restart run it
		}
		a.Hint("%s runs it again", a.Command("task", "restart", t.SessionID, t.ID))
	}
	return nil
}

func (r *restoring) end() error {
	if r.lost == 0 && !r.json {
		r.app.Note("there is nothing to restore")
	}
	if r.failed > 0 {
		return app.Exit(app.ExitFailed)
	}
	return nil
}

// rulesOf are today's rules for a session: the user's, and its directory's.
func rulesOf(a *app.App, st *session.State) ([]session.Rule, error) {
	set, err := settings.Load(settings.UserFile(a.Getenv), st.Config.Root)
	if err != nil {
		return nil, err
	}
	for _, text := range set.Ignored {
		a.Note("ignored: %s", text)
	}
	rules := []session.Rule{} // never nil: that would be those of the session
	for _, r := range set.Rules {
		rules = append(rules, session.Rule{Effect: string(r.Effect), Text: r.Text, Source: r.Source})
	}
	return rules, nil
}
