package perdure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// Tasks are the commands of a home's sessions that run under an id of their own: bash_1 and so on. They outlive the
// process that started them. [Home.Tasks] gives it.
type Tasks struct {
	home *homes.Home
	in   homes.Tasks
}

// Tasks gives what can be done with tasks.
func (h *Home) Tasks() Tasks { return Tasks{h.in, h.in.Tasks()} }

// List looks at the tasks of one session, the ones that a fork inherited included; with an empty id, at every session's own
// tasks: a session that cannot be read is left out then, and the error says so beside the others' tasks. Whoever looks
// adopts: a command that has lost its shim gets another. Errors: store.ErrNotFound, *store.CorruptError.
func (ts Tasks) List(ctx context.Context, id string) ([]view.Task, error) {
	if id != "" {
		return ts.in.List(ctx, id)
	}
	tasks, left, err := ts.in.All(ctx)
	return tasks, errors.Join(append(left, err)...)
}

// TaskSpec says what a task is to run.
type TaskSpec struct {
	Key     string   // idempotency key: the same again asks for nothing more; empty: a new one
	Name    string   // for people; may be empty
	Argv    []string // run without a shell; empty: Command is the text of a shell
	Command string   // for people too, if Argv is given
	Cwd     string   // absolute
	Restart string   // after a reboot: on-reboot, or empty for never
	view.TaskSettings
}

// Start asks for a task in a session and waits until it runs, has ended, or could not be started. It goes by the given
// rules; nil: by those that the session has. A session that nobody holds is held for
// that. Errors: store.ErrNotFound, ErrRefused, ErrSecret; an error of ctx after which the task was accepted.
func (ts Tasks) Start(ctx context.Context, id string, spec TaskSpec, rules []view.Rule) (view.Task, error) {
	s := spec.TaskSettings
	return ts.in.Start(ctx, id, homes.TaskSpec{
		Key: spec.Key, Name: spec.Name, Argv: spec.Argv, Command: spec.Command, Cwd: spec.Cwd, Restart: spec.Restart,
		TaskSettings: session.TaskSettings{
			Stdin: s.Stdin, TTY: (*command.TerminalSize)(s.TTY), Limits: command.Limits(s.Limits), Lifetime: session.Lifetime(s.Lifetime),
		},
	}, rulesOf(rules))
}

// Restart runs a task again under its id: one that still runs is ended first. What would refuse it is found before that,
// by the given rules; nil: by those that the session has. Errors are those of [Tasks.Start].
func (ts Tasks) Restart(ctx context.Context, t view.Task, rules []view.Rule) (view.Task, error) {
	return ts.in.Restart(ctx, t, rulesOf(rules))
}

// Restore takes a session's lease, runs those of its tasks again that a reboot took and that a human granted it to, by
// the given rules (nil: those that the session has), and gives the lease back. Nothing else of the session goes on. It may
// be repeated, interrupted and called by several processes at once: a task comes to run once. It
// returns them as they are then; NoRestart says of each that does not run again why. Errors:
// store.ErrNotFound, *store.HeldError.
func (ts Tasks) Restore(ctx context.Context, id string, rules []view.Rule) ([]view.Task, error) {
	restored, err := ts.in.Restore(ctx, id, rulesOf(rules))
	tasks := make([]view.Task, len(restored))
	for i, r := range restored {
		if tasks[i] = r.Task; !r.Again {
			tasks[i].NoRestart = cmp.Or(r.Why, r.NoRestart)
		}
	}
	return tasks, err
}

// Wait waits, without a model or a lease, until a task and all that it left behind has ended, or, with a line, until
// one that its present attempt printed matches, from the beginning of what is kept; whichever comes first. When ctx ends
// it returns ctx's error with the task as it is then. Other errors: store.ErrNotFound.
func (ts Tasks) Wait(ctx context.Context, id, task string, line *regexp.Regexp) (view.TaskNews, error) {
	news, err := ts.in.Wait(ctx, id, task, line)
	return news, ofTask(err)
}

// Write writes to the input of a task that was started with one, ends it after that with eof, and returns how many
// bytes the task has taken; the error says why not all. The text, at most 64 KiB, is in the log before it is written;
// after a crash in between the outcome is unknown, and it is not written again. Errors: store.ErrNotFound, ErrRefused,
// ErrSecret, of ctx: it was accepted then.
func (ts Tasks) Write(ctx context.Context, t view.Task, text []byte, eof bool) (int64, error) {
	w, err := ts.in.Write(ctx, t, text, eof)
	if err == nil && w.Reason != "" {
		err = fmt.Errorf("task %s of session %s: %s", t.ID, t.SessionID, w.Reason)
	}
	return w.Bytes, err
}

// Detach sends a command that runs in the foreground of a session's open turn to the background, by its act: the agent is
// told so and goes on, its timeout no longer holds, and it becomes the task that is returned. Errors: store.ErrNotFound,
// ErrRefused, also when it ended before that; of ctx: it was accepted then.
func (ts Tasks) Detach(ctx context.Context, id, act string) (view.Task, error) {
	t, err := ts.in.Detach(ctx, id, act)
	return t, ofTask(err)
}

// Kill ends tasks with everything that they started, and returns when nothing of them is left. That a person asked for
// it is in the log before the first signal. One that has ended is left as it is. The tasks may
// be of several sessions. Errors: store.ErrNotFound, and of ctx: the wish was accepted then.
func (ts Tasks) Kill(ctx context.Context, tasks ...view.Task) error {
	return ts.in.Kill(ctx, command.ByUser, tasks...)
}

// KillAll is Kill for all of a session's own tasks of which a process is left, but for those with the given ids, and
// returns them as they were before.
func (ts Tasks) KillAll(ctx context.Context, id string, except ...string) ([]view.Task, error) {
	return ts.in.KillAll(ctx, id, command.ByUser, except...)
}

// Read yields what a reader has not seen of a task's output: a terminal, a program, a person. Each reader has a place
// of its own, by its name, which none moves for another; the model's is in the log, with the tool results that used it.
// The place moves on, durably, when the loop asks for more: after a break, or a death, what it had last comes again. It
// ends when there is nothing new. What it costs does not depend on how much there was before.
//
// A place belongs to one attempt: when the task is started again, every reader begins anew. A fork's inherited task is its
// parent's: a reader has one place in it, from whichever session it comes. Errors: store.ErrNotFound, ErrInvalid.
func (ts Tasks) Read(ctx context.Context, id, task, reader string) iter.Seq2[view.News, error] {
	return func(yield func(view.News, error) bool) {
		r, err := ts.in.Reader(ctx, id, task, reader)
		for err == nil {
			var news view.News
			if news, err = r.Next(0); err != nil {
				break
			}
			if news.To == news.From {
				return
			}
			if !yield(news, nil) {
				return
			}
			err = r.Commit(ctx)
		}
		yield(view.News{}, ofTask(err))
	}
}
