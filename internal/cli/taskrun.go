package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/engine"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/task"
)

// taskRun is what task run was asked for.
type taskRun struct {
	session string
	name    string
	restart string
	json    bool
	how     taskFlags
}

func (a *App) taskRunCommand() *cobra.Command {
	r := &taskRun{}
	c := &cobra.Command{
		Use: "run [flags] -- COMMAND [ARG...]", Short: "Start a background command, with no model at all",
		Long: "Starts a command that outlives this terminal, and returns once it runs. What follows -- is run as it is,\n" +
			"without a shell. Without --session it gets a session of its own.",
		Args: rangeArgs(1, -1, "a command after --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := settings.Load(settings.UserFile(a.getenv), a.Dir)
			if err != nil {
				return err
			}
			set, err := r.how.settings(cmd, conf.Bounds)
			if err != nil {
				return err
			}
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error { return a.runTask(ctx, h, r, set, args) })
		},
	}
	c.Flags().StringVar(&r.session, "session", "", "the session to run it in, by `ID` or name")
	c.Flags().StringVar(&r.name, "name", "", "a `NAME` for people")
	c.Flags().StringVar(&r.restart, "restart", "never", "`POLICY` after a reboot: never or on-reboot (perdure task restore does it)")
	c.Flags().BoolVar(&r.json, "json", false, "print one JSON object")
	r.how.register(c)
	return c
}

func (a *App) runTask(ctx context.Context, h *perdure.Home, r *taskRun, set session.TaskSettings, argv []string) error {
	policy, err := restartPolicy(r.restart)
	if err != nil {
		return err
	}
	if _, err := a.workdir(); err != nil {
		return err
	}
	if h.Hides([]byte(r.name + "\n" + quoted(argv))) {
		return fmt.Errorf("the command: %w", perdure.ErrSecret) // before a session is made for it
	}
	body := &session.TaskRequested{
		Name: r.name, Argv: argv, Command: quoted(argv), Cwd: a.Dir, Restart: policy, TaskSettings: set,
	}
	var id string
	if r.session != "" {
		id, err = a.resolve(ctx, h, r.session)
	} else if err = task.CheckProgram(argv, a.Dir, a.Environ); err == nil { // before a session is there for nothing
		id, err = h.Create(ctx, engine.Spec{
			Owner: a.getenv("USER"), Title: r.name, Cwd: a.Dir, Agent: session.Agent{Name: "none", Provider: "none", Model: "none"},
		})
	}
	if err != nil {
		return err
	}
	rules, err := a.mayRun(ctx, h, id, body)
	if err != nil {
		return err
	}
	t, err := a.request(ctx, h, id, body, rules)
	if err != nil {
		return err
	}
	return a.tellStarted(t, r.json)
}

// mayRun asks whether a request would be taken, before anything is done for it, and returns today's rules.
func (a *App) mayRun(ctx context.Context, h *perdure.Home, id string, body *session.TaskRequested) ([]session.Rule, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	rules, err := a.rulesOf(st)
	if err != nil {
		return nil, err
	}
	return rules, h.CheckTask(ctx, id, *body, rules)
}

func (a *App) taskRestartCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "restart [SESSION] TASK", Short: "Run a task again under its id", Args: rangeArgs(1, 2, "a task, perhaps after its session"),
		Long: "Ends the task if it still runs, and starts the same command again under the same id. The earlier attempts\n" +
			"are kept. Today's rules are asked first, as perdure -p reads them: what a deny rule, a missing program or a\n" +
			"missing directory would keep from starting is not ended.",
		Example:           "  perdure task restart web",
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
				t, err := a.namedTask(ctx, h, args)
				if err != nil {
					return err
				}
				if t, err = a.restart(ctx, h, t); err != nil {
					return err
				}
				return a.tellStarted(t, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// restart ends a task and requests another attempt, once the log knows that the last one has ended. What would refuse
// the request is found before anything is ended.
func (a *App) restart(ctx context.Context, h *perdure.Home, t perdure.TaskView) (perdure.TaskView, error) {
	body := &session.TaskRequested{Task: t.ID}
	rules, err := a.mayRun(ctx, h, t.SessionID, body)
	if err != nil {
		return t, err
	}
	if t.Live() {
		if err := a.killTasks(ctx, h, []perdure.TaskView{t}); err != nil {
			return t, err
		}
	}
	return a.request(ctx, h, t.SessionID, body, rules)
}

// request asks for a task and waits until it runs, has ended, or could not be started.
func (a *App) request(ctx context.Context, h *perdure.Home, id string, body *session.TaskRequested, rules []session.Rule) (perdure.TaskView, error) {
	key := uuid.NewString()
	err := a.within(ctx, h, id, patience, func(ctx context.Context) error { return h.DeliverByRules(ctx, id, key, body, rules) })
	if err != nil {
		return perdure.TaskView{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		st, err := h.State(ctx, id)
		if err != nil {
			return perdure.TaskView{}, err
		}
		i := slices.IndexFunc(st.Tasks, func(t session.Task) bool { return t.Key == key })
		if i < 0 {
			return perdure.TaskView{}, fmt.Errorf("session %s: the task that was asked for is not there", id)
		}
		if t := st.Tasks[i]; t.Status != session.CommandStarting {
			v := h.TaskViews(st)[i]
			if t.PID == 0 && v.Status == session.CommandLost {
				return v, fmt.Errorf("task %s could not be started: %s", t.ID, t.Reason)
			}
			return v, nil
		}
		select {
		case <-ctx.Done():
			return perdure.TaskView{}, fmt.Errorf("session %s: the task was accepted and has not started: %w", id, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (a *App) tellStarted(t perdure.TaskView, asJSON bool) error {
	if asJSON {
		return a.json(struct {
			SessionID string `json:"session_id"`
			ID        string `json:"id"`
			PID       int    `json:"pid"`
		}{t.SessionID, t.ID, t.PID})
	}
	a.linef("%s %s (pid %d)", t.SessionID, t.ID, t.PID)
	a.hint("perdure task output %s %s, perdure task kill %s %s", t.SessionID, t.ID, t.SessionID, t.ID)
	return nil
}

// quoted words an argument vector as a shell would read it.
func quoted(argv []string) string {
	out := make([]string, len(argv))
	for i, s := range argv {
		plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,", r)
		})
		if out[i] = s; !plain {
			out[i] = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
