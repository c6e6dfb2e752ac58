package tasks

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

// taskRun is what task run was asked for.
type taskRun struct {
	session string
	name    string
	restart string
	json    bool
	how     taskFlags
}

func runCommand(a *app.App) *cobra.Command {
	r := &taskRun{}
	c := &cobra.Command{
		Use: "run [flags] -- COMMAND [ARG...]", Short: "Start a background command, with no model at all",
		Long: "Starts a command that outlives this terminal, and returns once it runs. What follows -- is run as it is,\n" +
			"without a shell. Without --session it gets a session of its own.",
		Args: app.RangeArgs(1, -1, "a command after --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := settings.Load(settings.UserFile(a.Getenv), a.Dir)
			if err != nil {
				return err
			}
			set, err := r.how.settings(cmd, conf.Bounds)
			if err != nil {
				return err
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return runTask(ctx, a, h, r, set, args) })
		},
	}
	c.Flags().StringVar(&r.session, "session", "", "the session to run it in, by `ID` or name")
	c.Flags().StringVar(&r.name, "name", "", "a `NAME` for people")
	c.Flags().StringVar(&r.restart, "restart", "never", "`POLICY` after a reboot: never or on-reboot (perdure task restore does it)")
	c.Flags().BoolVar(&r.json, "json", false, "print one JSON object")
	r.how.register(c)
	return c
}

func runTask(ctx context.Context, a *app.App, h *homes.Home, r *taskRun, set session.TaskSettings, argv []string) error {
	policy, err := restartPolicy(r.restart)
	if err != nil {
		return err
	}
	if _, err := a.Workdir(); err != nil {
		return err
	}
	if h.Hides([]byte(r.name + "\n" + quoted(argv))) {
		return fmt.Errorf("the command: %w", homes.ErrSecret) // before a session is made for it
	}
	spec := homes.TaskSpec{
		Name: r.name, Argv: argv, Command: quoted(argv), Cwd: a.Dir, Restart: policy, TaskSettings: set,
	}
	var id string
	if r.session != "" {
		id, err = a.Resolve(ctx, h, r.session)
	} else if err = task.CheckProgram(argv, a.Dir, a.Environ); err == nil { // before a session is there for nothing
		id, err = h.Create(ctx, engine.Spec{
			Owner: a.Getenv("USER"), Title: r.name, Cwd: a.Dir, Agent: session.Agent{Name: "none", Provider: "none", Model: "none"}, Fresh: true,
		})
	}
	if err != nil {
		return err
	}
	rules, err := mayRun(ctx, a, h, id, &session.TaskRequested{
		Name: spec.Name, Argv: argv, Command: spec.Command, Cwd: spec.Cwd, Restart: policy, TaskSettings: set,
	})
	if err != nil {
		return err
	}
	var t view.Task
	err = a.Within(ctx, h, id, app.Patience, func(ctx context.Context) (err error) {
		t, err = h.Tasks().Start(ctx, id, spec, rules)
		return err
	})
	if err != nil {
		return err
	}
	return tellStarted(a, t, r.json)
}

// shellKey begins the key of a task that Shell has started.
const shellKey = "shell "

// IsShell reports whether Shell has started a task.
func IsShell(t *session.Task) bool { return strings.HasPrefix(t.Key, shellKey) }

// Shell starts the line of a shell for a person, as a task of a session that is there, which IsShell knows by its key,
// a new one. Errors: those of [homes.Tasks.Check] and [homes.Tasks.Start].
func Shell(ctx context.Context, a *app.App, h *homes.Home, id, key, line, cwd string) (t view.Task, err error) {
	rules, err := mayRun(ctx, a, h, id, &session.TaskRequested{Command: line, Cwd: cwd})
	if err != nil {
		return t, err
	}
	err = a.Within(ctx, h, id, app.Patience, func(ctx context.Context) (err error) {
		t, err = h.Tasks().Start(ctx, id, homes.TaskSpec{Key: shellKey + key, Command: line, Cwd: cwd}, rules)
		return err
	})
	return t, err
}

// mayRun asks whether a request would be taken, before anything is done for it, and returns today's rules.
func mayRun(ctx context.Context, a *app.App, h *homes.Home, id string, body *session.TaskRequested) ([]session.Rule, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	rules, err := rulesOf(a, st)
	if err != nil {
		return nil, err
	}
	return rules, h.Tasks().Check(ctx, id, *body, rules)
}

func restartCommand(a *app.App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "restart [SESSION] TASK", Short: "Run a task again under its id", Args: app.RangeArgs(1, 2, "a task, perhaps after its session"),
		Long: "Ends the task if it still runs, and starts the same command again under the same id. The earlier attempts\n" +
			"are kept. Today's rules are asked first, as perdure -p reads them: what a deny rule, a missing program or a\n" +
			"missing directory would keep from starting is not ended.",
		Example: "  perdure task restart web",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				t, err := namedTask(ctx, a, h, args)
				if err != nil {
					return err
				}
				if t, err = restart(ctx, a, h, t); err != nil {
					return err
				}
				return tellStarted(a, t, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// restart runs a task again. What would refuse it is found before anything is ended.
func restart(ctx context.Context, a *app.App, h *homes.Home, t view.Task) (view.Task, error) {
	rules, err := mayRun(ctx, a, h, t.SessionID, &session.TaskRequested{Task: t.ID})
	if err != nil {
		return t, err
	}
	if t.Live() {
		if err := killTasks(ctx, a, h, []view.Task{t}); err != nil {
			return t, err
		}
	}
	again := t
	err = a.Within(ctx, h, t.SessionID, app.Patience, func(ctx context.Context) error {
		st, err := h.State(ctx, t.SessionID)
		if err == nil {
			t, _ = h.Tasks().One(st, t.ID)
			again, err = h.Tasks().Restart(ctx, t, rules)
		}
		return err
	})
	return again, err
}

func tellStarted(a *app.App, t view.Task, asJSON bool) error {
	if asJSON {
		return a.JSON(struct {
			SessionID string `json:"session_id"`
			ID        string `json:"id"`
			PID       int    `json:"pid"`
		}{t.SessionID, t.ID, t.PID})
	}
	a.Linef("%s %s (pid %d)", t.SessionID, t.ID, t.PID)
	a.Hint("perdure task output %s %s, perdure task kill %s %s", t.SessionID, t.ID, t.SessionID, t.ID)
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
