package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

//go:embed kill_bash.md
var killBashDescription string

// maxKills bounds the tasks that one call ends.
const maxKills = 64

// killBash ends background commands. Running it twice is harmless: a task that has ended stays as it is.
type killBash struct{}

func (killBash) Spec() Spec {
	return Spec{
		Name: "KillBash", Description: strings.TrimSpace(killBashDescription), Effect: session.EffectExternal, Idempotent: true,
		Schema: `{"type":"object","properties":{` +
			`"shell_id":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],` +
			`"description":"The id of the background command, such as bash_1, or a list of ids"}},` +
			`"required":["shell_id"]}`,
	}
}

// Run kills each task and says how each ended. An unknown id makes the result an error, but the others are killed.
func (killBash) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	ids := in.texts("shell_id")
	switch {
	case len(in.problems) > 0:
	case len(ids) == 0:
		in.problem(`"shell_id" is missing; it must be an id such as bash_1, or a list of ids`)
	case len(ids) > maxKills:
		in.problem("%d ids, at most %d are allowed at once", len(ids), maxKills)
	}
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	lines, bad, errs := make([]string, len(ids)), make([]bool, len(ids)), make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { // at once: one that takes its time keeps nobody waiting
			text, ok, err := kill(ctx, env, id)
			if err != nil {
				err = fmt.Errorf("kill %s: %w", id, err)
			}
			lines[i], bad[i], errs[i] = text, !ok, err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return Result{}, err
	}
	r := success("%s", strings.Join(lines, "\n"))
	r.IsError = slices.Contains(bad, true)
	return r, nil
}

// kill ends one task and says how it ended.
func kill(ctx context.Context, env Env, id string) (text string, ok bool, err error) {
	task := knownTask(env, id)
	switch {
	case task == nil:
		return model.Text(unknownTask(env, id).Content), false, nil
	case task.Session != "":
		return id + " belongs to the session that this one was forked from; only that one can end it", false, nil
	}
	// A task that ended may have left processes behind, so it is killed whatever the log says.
	st, err := env.Tasks.Kill(ctx, id)
	switch {
	case errors.Is(err, ErrNoTask) && task.Status != command.Running:
		return taskStatus(id, task.CommandState()), true, nil
	case errors.Is(err, ErrNoTask):
		return id + ": its record is gone; nothing to kill is known", false, nil
	case err != nil:
		return "", false, err
	case st.Status == command.Running:
		return id + " could not be killed: it is still running", false, nil
	}
	return taskStatus(id, st), true, nil
}
