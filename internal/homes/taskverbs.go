package homes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

// TaskSpec says what a task is to run.
type TaskSpec struct {
	Key     string   // idempotency key, by which the task is known in the state; empty: a new one
	Name    string   // for people; may be empty
	Argv    []string // run without a shell; empty: Command is the text of a shell
	Command string   // for people too, if Argv is given
	Cwd     string   // absolute
	Restart string   // after a reboot: session.RestartOnReboot, or empty for never
	session.TaskSettings
}

// Start asks for a task in a session and waits until it runs, has ended, or could not be started. It goes by the given
// rules, today's of the session's files; nil: by those that the session has. A session that nobody holds is held for
// that. Errors: store.ErrNotFound, engine.ErrRefused, ErrSecret; an error of ctx after which the task was accepted.
func (ts Tasks) Start(ctx context.Context, sessionID string, spec TaskSpec, rules []session.Rule) (view.Task, error) {
	return ts.request(ctx, sessionID, spec.Key, &session.TaskRequested{
		Name: spec.Name, Argv: spec.Argv, Command: spec.Command, Cwd: spec.Cwd, Restart: spec.Restart, TaskSettings: spec.TaskSettings,
	}, rules)
}

// Restart runs a task again under its id: one that still runs is ended first. What would refuse it is found before that;
// see [Tasks.Check]. Rules and errors are those of [Tasks.Start].
func (ts Tasks) Restart(ctx context.Context, t view.Task, rules []session.Rule) (view.Task, error) {
	again := session.TaskRequested{Task: t.ID}
	if err := ts.Check(ctx, t.SessionID, again, rules); err != nil {
		return t, err
	}
	if t.Live() {
		if err := ts.Kill(ctx, command.ByUser, t); err != nil {
			return t, err
		}
	}
	return ts.request(ctx, t.SessionID, "", &again, rules)
}

// request asks for a task and waits for its beginning.
func (ts Tasks) request(ctx context.Context, id, key string, body *session.TaskRequested, rules []session.Rule) (v view.Task, err error) {
	h := ts.home
	if key == "" {
		key = h.eng.NewKey()
	}
	if h.noCommands != nil {
		return v, h.noCommands
	}
	if err := h.deliver(ctx, id, key, body, Options{Rules: rules, SetRules: rules != nil}); err != nil {
		return v, err
	}
	err = h.until(ctx, id, func(st *session.State) (bool, error) {
		i := slices.IndexFunc(st.Tasks, func(t session.Task) bool { return t.Key == key })
		if i < 0 {
			return false, fmt.Errorf("session %s: the task that was asked for is not there", id)
		}
		if st.Tasks[i].Status == command.Starting {
			return false, nil
		}
		if v, _ = ts.One(st, st.Tasks[i].ID); st.Tasks[i].PID == 0 && v.Status == taskLost {
			return true, fmt.Errorf("task %s could not be started: %s", v.ID, st.Tasks[i].Reason)
		}
		return true, nil
	})
	if ctx.Err() != nil {
		err = fmt.Errorf("session %s: the task was accepted and has not started: %w", id, ctx.Err())
	}
	return v, err
}

// until looks at a session's state, now and after each change, until done says so or fails, or ctx ends.
func (h *Home) until(ctx context.Context, id string, done func(*session.State) (bool, error)) error {
	changed, stop, every := h.changes(id)
	defer stop()
	for {
		st, err := h.State(ctx, id)
		if err != nil {
			return err
		}
		if ok, err := done(st); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(min(every, 10*pollEvery)):
		}
	}
}

// Kill ends tasks with everything that they started, and returns when nothing of them is left. Who asked for it, one of
// command.ByUser and its like, is in the log before the first signal. One that has ended is left as it is. The tasks may
// be of several sessions. Errors: store.ErrNotFound, and of ctx: the wish was accepted then.
func (ts Tasks) Kill(ctx context.Context, by string, tasks ...view.Task) error {
	h := ts.home
	if h.runner == nil {
		return cmp.Or(h.noCommands, errNoCommands)
	}
	var targets []task.Target
	wishes := map[string][]session.Body{}
	for _, t := range tasks {
		if !t.Live() {
			continue
		}
		if t.Status == taskRunning {
			wishes[t.SessionID] = append(wishes[t.SessionID], &session.TaskSignalled{Task: t.ID, Signal: "SIGTERM", By: by})
		}
		targets = append(targets, task.Target{Session: t.SessionID, Act: t.Act})
	}
	// A task whose command ended, and left processes, is over for the log: then only its directory knows who ended them.
	for id, bodies := range wishes {
		if err := h.DeliverAll(ctx, id, bodies...); err != nil && !errors.Is(err, engine.ErrRefused) { // refused: it ended meanwhile
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	// A live holder may still be at it. Whoever comes second finds the wish recorded and waits for the same end.
	return errors.Join(h.runner.KillAll(ctx, targets, by)...)
}

var errNoCommands = errors.New("commands cannot be run here: call RunShimIfAsked first thing in main, or set Config.ShimPath")

// KillAll is Kill for all of a session's own tasks of which a process is left, but for those with the given ids, and
// returns them as they were before.
func (ts Tasks) KillAll(ctx context.Context, sessionID, by string, except ...string) ([]view.Task, error) {
	st, err := ts.home.State(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	tasks := slices.DeleteFunc(ts.Live(st), func(t view.Task) bool { return slices.Contains(except, t.ID) })
	return tasks, ts.Kill(ctx, by, tasks...)
}

// Write writes to the input of a task that was started with one, and ends it after that with eof. The text, at most
// session.MaxInput bytes, is in the log before it is written; after a crash in between the outcome is unknown, and it is
// not written again. Errors: store.ErrNotFound, engine.ErrRefused, ErrSecret, of ctx: it was accepted then.
func (ts Tasks) Write(ctx context.Context, t view.Task, text []byte, eof bool) (view.Written, error) {
	h, key := ts.home, ts.home.eng.NewKey()
	before, err := h.store.Get(ctx, t.SessionID)
	if err != nil {
		return view.Written{}, err
	}
	if err := h.Deliver(ctx, t.SessionID, key, &session.TaskInput{Task: t.ID, EOF: eof, Text: text}); err != nil {
		return view.Written{}, err
	}
	for ev, err := range h.Follow(ctx, t.SessionID, before.Head.Seq+1) {
		if err != nil {
			return view.Written{}, err
		}
		if ev.Kind != session.KindTaskWritten {
			continue
		}
		body, err := session.Decode(ev)
		if err != nil {
			return view.Written{}, err
		}
		if b, ok := body.(*session.TaskWritten); ok && b.Key == key {
			return view.Written{Outcome: string(b.Outcome), Bytes: b.Bytes, Reason: b.Reason}, nil
		}
	}
	return view.Written{}, ctx.Err()
}

// ErrTooFast tells that a command ended before it could be sent to the background.
var ErrTooFast = errors.New("it ended before it could be sent to the background")

// Detach sends a command that runs in the foreground of a session's open turn to the background, by its act: the agent is
// told so and goes on, its timeout no longer holds, and it becomes the task that is returned. Errors: store.ErrNotFound,
// engine.ErrRefused, ErrTooFast, of ctx: it was accepted then.
func (ts Tasks) Detach(ctx context.Context, sessionID, act string) (v view.Task, err error) {
	h := ts.home
	if err := h.Deliver(ctx, sessionID, "", &session.ToolDetached{Act: act}); err != nil {
		return v, err
	}
	err = h.until(ctx, sessionID, func(st *session.State) (bool, error) {
		if i := slices.IndexFunc(st.Tasks, func(t session.Task) bool { return t.Act == act && t.Session == "" }); i >= 0 {
			v, _ = ts.One(st, st.Tasks[i].ID)
			return true, nil
		}
		if c := st.Call(act); c == nil || c.Settled() || c.ID != act {
			return false, fmt.Errorf("act %s: %w", act, ErrTooFast)
		}
		return false, nil
	})
	if ctx.Err() != nil {
		err = fmt.Errorf("session %s: act %s is to go to the background, and has not yet: %w", sessionID, act, ctx.Err())
	}
	return v, err
}
