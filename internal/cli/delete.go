package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

func (a *App) deleteCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete ID", Short: "Delete a session, its log and its outputs, for good",
		Args: exactArgs(1, "a session"), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				return a.delete(ctx, h, id, yes)
			})
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *App) delete(ctx context.Context, h *perdure.Home, id string, yes bool) error {
	if err := a.refuseRunning(ctx, h, id); err != nil {
		return err
	}
	if !yes {
		if err := a.confirm(ctx, h, id); err != nil {
			return err
		}
	}
	if err := a.endBound(ctx, h, id); err != nil {
		return err
	}
	err := h.Store().Delete(ctx, id)
	var children *store.ChildrenError
	if errors.As(err, &children) {
		return &exitError{code: exitFailed, text: children.Error(), hint: "they need its log; delete them first"}
	}
	if err != nil {
		return err
	}
	return removeFiles(h, id)
}

// endBound ends the tasks whose lifetime ends with the session.
func (a *App) endBound(ctx context.Context, h *perdure.Home, id string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil //nolint:nilerr // a session that cannot be read has no tasks that could be told apart, and nothing runs
	}
	var bound []perdure.TaskView
	for _, t := range h.TaskViews(st) {
		if t.SessionID == id && t.Live() && t.Lifetime != session.LifetimeDetached {
			bound = append(bound, t)
		}
	}
	if len(bound) == 0 {
		return nil
	}
	return a.endTasks(ctx, h, id, bound, session.ByLifetime)
}

// refuseRunning names what still runs and is not to end with the session: its directory is all there is to find it by.
func (a *App) refuseRunning(ctx context.Context, h *perdure.Home, id string) error {
	running, err := runningActs(ctx, h, id)
	if err != nil || len(running) == 0 {
		return err
	}
	var tasks, words, ends []string
	for _, r := range running {
		if r.task == "" {
			words = append(words, fmt.Sprintf("the command of act %s (pid %d)", r.act, r.pid))
			ends = append(ends, fmt.Sprintf("kill -- -%d", r.pid))
			continue
		}
		tasks = append(tasks, r.task)
		words = append(words, fmt.Sprintf("%s (pid %d)", r.task, r.pid))
	}
	if len(tasks) > 0 {
		ends = append(ends, a.command(append([]string{"task", "kill", id}, tasks...)...))
	}
	return &exitError{
		code: exitFailed, text: fmt.Sprintf("session %s still runs %s; nothing was deleted", id, strings.Join(words, ", ")),
		hint: "what ends them: " + strings.Join(ends, "; "),
	}
}

// runningAct is a command of which a process lives.
type runningAct struct {
	act, task string
	pid       int
}

func runningActs(ctx context.Context, h *perdure.Home, id string) ([]runningAct, error) {
	r := h.Commands()
	if r == nil {
		return nil, nil
	}
	acts, err := r.List(id)
	if err != nil {
		return nil, err
	}
	names, bound := map[string]string{}, map[string]bool{}
	// A session that cannot be read can be deleted nevertheless; its commands then have no other names.
	if st, err := h.State(ctx, id); err == nil {
		for _, t := range st.Tasks {
			if t.Session == "" {
				names[t.Act], bound[t.Act] = t.ID, t.Lifetime != "" && t.Lifetime != session.LifetimeDetached
			}
		}
	}
	var running []runningAct
	for _, act := range acts {
		st, err := r.State(id, act)
		if err != nil {
			return nil, err
		}
		if !bound[act] && (st.Status == session.CommandRunning || st.Stragglers > 0) {
			running = append(running, runningAct{act: act, task: names[act], pid: st.PID})
		}
	}
	return running, nil
}

// confirm asks a person; without one there is nobody to ask.
func (a *App) confirm(ctx context.Context, h *perdure.Home, id string) error {
	if !a.Terminal {
		return &exitError{code: exitUsage, text: "delete is for good and asks first", hint: "without a terminal, say --yes"}
	}
	info, err := h.Store().Get(ctx, id)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.Stderr, "delete session %s %s with its %d events for good? [y/N] ", id, oneline(info.Heads.Title, maxCell), info.Head.Seq)
	answer, err := bufio.NewReader(io.LimitReader(a.Stdin, 64)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitFailed, text: "nothing was deleted"}
}

// removeFiles removes what a deleted session left outside the store. A command that was started meanwhile keeps its
// directory.
func removeFiles(h *perdure.Home, id string) error {
	var errs []error
	if r := h.Commands(); r != nil {
		acts, err := r.List(id)
		errs = append(errs, err)
		for _, act := range acts {
			errs = append(errs, r.Remove(id, act))
		}
	}
	errs = append(errs, h.FreePorts(id))
	for _, dir := range []string{"outputs", "tmp", "streams"} {
		errs = append(errs, os.RemoveAll(filepath.Join(h.Dir(), dir, id)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("session %s is deleted, but not all of its files: %w", id, err)
	}
	return nil
}
