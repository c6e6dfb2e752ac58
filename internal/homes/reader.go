package homes

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/view"
)

// Reader is one reader's place in the output of a task: a terminal, a program, a person. Each has its own and none
// moves another's; the model's is in the log, with the tool results that used it. A place belongs to one attempt: when
// the task is started again, every reader begins anew. It is not safe for concurrent use.
type Reader struct {
	home      *Home
	task      view.Task
	name      string
	committed int64
	position  int64
}

// Errors of readers.
var (
	ErrNoTask = tools.ErrNoTask                  // the session has no such task
	ErrReader = invalid.New("bad reader's name") // empty, longer than 128 bytes, or with control characters
)

// Reader returns the place of a reader of that name in a task's output: 0 if it never committed. A fork's inherited
// task is its parent's: a reader has one place in it, from whichever session it comes. Errors: store.ErrNotFound,
// ErrNoTask, ErrReader.
func (ts Tasks) Reader(ctx context.Context, sessionID, taskID, name string) (*Reader, error) {
	h := ts.home
	info, err := h.store.Get(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	tasks, err := h.tasksOf(ctx, info)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(tasks, func(t session.Task) bool { return t.ID == taskID })
	if i < 0 {
		return nil, fmt.Errorf("session %s: %w: %s", sessionID, ErrNoTask, taskID)
	}
	return ts.ReaderOf(ctx, h.loggedTask(sessionID, &tasks[i]), name)
}

// ReaderOf is Reader for a task that was looked at, in the attempt that was seen.
func (ts Tasks) ReaderOf(ctx context.Context, t view.Task, name string) (*Reader, error) {
	h := ts.home
	const longest = 128
	if name == "" || len(name) > longest || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return nil, fmt.Errorf("reader %q of task %s: %w", name, t.ID, ErrReader)
	}
	at, err := h.store.Reader(ctx, t.SessionID, t.Act, name)
	if err != nil {
		return nil, err
	}
	return &Reader{home: h, task: t, name: name, committed: at, position: at}, nil
}

// Next returns up to limit new bytes, at most 64 MiB and 64 KiB if limit is not positive; none when there is nothing
// new. What it costs does not depend on how much there was before. The stored place stays until Commit. Errors:
// task.ErrMissing when the output is gone with its directory.
func (r *Reader) Next(limit int) (view.News, error) {
	b, next, gap, err := r.home.commands().Read(r.task.SessionID, r.task.Act, r.position, limit)
	if err != nil {
		return view.News{}, err
	}
	n := view.News{Bytes: b, Omitted: gap, From: r.position, To: next}
	r.position = next
	return n, nil
}

// Position is the absolute offset of what Next returns next.
func (r *Reader) Position() int64 { return r.position }

// MoveTo makes Next go on at an absolute offset, to read again or to skip. Negative ones are 0.
func (r *Reader) MoveTo(offset int64) { r.position = max(offset, 0) }

// Commit stores the place, durably. Call it when what Next returned has been used: after a death in between it is
// returned again.
func (r *Reader) Commit(ctx context.Context) error {
	if r.position == r.committed {
		return nil
	}
	if err := r.home.store.SetReader(ctx, r.task.SessionID, r.task.Act, r.name, r.position); err != nil {
		return fmt.Errorf("reader %s of task %s: %w", r.name, r.task.ID, err)
	}
	r.committed = r.position
	return nil
}

// commands is the home's runner, or one that only looks.
func (h *Home) commands() *task.Runner {
	if h.runner != nil {
		return h.runner
	}
	return &task.Runner{Dir: filepath.Join(h.dir, "acts"), Now: h.cfg.Now}
}
