package perdure

import (
	"context"
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

// List looks at the tasks of one session, the ones that a fork inherited included. Errors: store.ErrNotFound,
// *store.CorruptError.
func (ts Tasks) List(ctx context.Context, id string) ([]view.Task, error) { return ts.in.List(ctx, id) }

// All looks at every session's own tasks; a fork's inherited ones are its parent's. A session that cannot be read
// is left out and its error is in left. Whoever looks adopts: a command that has lost its shim gets another.
func (ts Tasks) All(ctx context.Context) (tasks []view.Task, left []error, err error) {
	return ts.in.All(ctx)
}

// TaskSpec says what a task is to run.
type TaskSpec struct {
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
func (ts Tasks) Start(ctx context.Context, id string, spec TaskSpec, rules []Rule) (view.Task, error) {
	s := spec.TaskSettings
	return ts.in.Start(ctx, id, homes.TaskSpec{
		Name: spec.Name, Argv: spec.Argv, Command: spec.Command, Cwd: spec.Cwd, Restart: spec.Restart,
		TaskSettings: session.TaskSettings{
			Stdin: s.Stdin, TTY: (*command.TerminalSize)(s.TTY), Limits: command.Limits(s.Limits), Lifetime: session.Lifetime(s.Lifetime),
		},
	}, rulesOf(rules))
}

// Restart runs a task again under its id: one that still runs is ended first. What would refuse it is found before that,
// by the given rules; nil: by those that the session has. Errors are those of [Tasks.Start].
func (ts Tasks) Restart(ctx context.Context, t view.Task, rules []Rule) (view.Task, error) {
	return ts.in.Restart(ctx, t, rulesOf(rules))
}

// Restore takes a session's lease, runs those of its tasks again that a reboot took and that a human granted it to, by
// the given rules (nil: those that the session has), and gives the lease back. Nothing else of the session goes on. It may be repeated, interrupted and
// called by several processes at once: a task comes to run once. Errors: store.ErrNotFound, *store.HeldError.
func (ts Tasks) Restore(ctx context.Context, id string, rules []Rule) ([]view.Restored, error) {
	return ts.in.Restore(ctx, id, rulesOf(rules))
}

// Wait waits, without a model or a lease, until a task and all that it left behind has ended, or, with a line, until
// one that its present attempt printed matches, from the beginning of what is kept; whichever comes first. When ctx ends
// it returns ctx's error with the task as it is then. Other errors: store.ErrNotFound, ErrNoTask.
func (ts Tasks) Wait(ctx context.Context, id, task string, line *regexp.Regexp) (view.TaskNews, error) {
	return ts.in.Wait(ctx, id, task, line)
}

// Write writes to the input of a task that was started with one, and ends it after that with eof. The text, at most
// 64 KiB, is in the log before it is written; after a crash in between the outcome is unknown, and it is
// not written again. Errors: store.ErrNotFound, ErrRefused, ErrSecret, of ctx: it was accepted then.
func (ts Tasks) Write(ctx context.Context, t view.Task, text []byte, eof bool) (view.Written, error) {
	return ts.in.Write(ctx, t, text, eof)
}

// Detach sends a command that runs in the foreground of a session's open turn to the background, by its act: the agent is
// told so and goes on, its timeout no longer holds, and it becomes the task that is returned. Errors: store.ErrNotFound,
// ErrRefused, ErrTooFast, of ctx: it was accepted then.
func (ts Tasks) Detach(ctx context.Context, id, act string) (view.Task, error) {
	return ts.in.Detach(ctx, id, act)
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

// Reader is one reader's place in the output of a task: a terminal, a program, a person. Each has its own and none
// moves another's; the model's is in the log, with the tool results that used it. A place belongs to one attempt: when
// the task is started again, every reader begins anew. It is not safe for concurrent use.
type Reader struct{ in *homes.Reader }

// Reader returns the place of a reader of that name in a task's output: 0 if it never committed. A fork's inherited
// task is its parent's: a reader has one place in it, from whichever session it comes. Errors: store.ErrNotFound,
// ErrNoTask, ErrReader.
func (ts Tasks) Reader(ctx context.Context, id, task, name string) (*Reader, error) {
	r, err := ts.in.Reader(ctx, id, task, name)
	if err != nil {
		return nil, err
	}
	return &Reader{r}, nil
}

// Next returns up to limit new bytes, at most 64 MiB and 64 KiB if limit is not positive; none when there is nothing
// new. What it costs does not depend on how much there was before. The stored place stays until Commit.
func (r *Reader) Next(limit int) (view.News, error) { return r.in.Next(limit) }

// Position is the absolute offset of what Next returns next.
func (r *Reader) Position() int64 { return r.in.Position() }

// MoveTo makes Next go on at an absolute offset, to read again or to skip. Negative ones are 0.
func (r *Reader) MoveTo(offset int64) { r.in.MoveTo(offset) }

// Commit stores the place, durably. Call it when what Next returned has been used: after a death in between it is
// returned again.
func (r *Reader) Commit(ctx context.Context) error { return r.in.Commit(ctx) }
