package homes

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/view"
)

// How a task is looked at while it is waited for.
const (
	waitPause = 100 * time.Millisecond
	waitChunk = 256 << 10
)

// Wait waits, without a model or a lease, until a task and all that it left behind has ended, or, with a line, until
// one that its present attempt printed matches, from the beginning of what is kept; whichever comes first. When ctx ends
// it returns ctx's error with the task as it is then. Other errors: store.ErrNotFound, ErrNoTask.
func (ts Tasks) Wait(ctx context.Context, id, name string, line *regexp.Regexp) (view.TaskNews, error) {
	h := ts.home
	st, err := h.eng.Load(ctx, id)
	if err != nil {
		return view.TaskNews{}, err
	}
	t := st.Task(name)
	switch {
	case t == nil:
		return view.TaskNews{}, fmt.Errorf("session %s: %w: %s", id, ErrNoTask, name)
	case h.runner == nil:
		return view.TaskNews{}, errors.New("this program cannot look at commands")
	}
	owner, act := id, t.Act
	if t.Session != "" {
		owner = t.Session
	}
	var news view.TaskNews
	if line == nil {
		err = h.waitEnd(ctx, owner, act)
	} else {
		f := &tools.Finder{Pattern: line, Replace: h.secret.Replace, Partial: h.secret.Partial}
		news.Line, err = h.waitLine(ctx, owner, act, f)
		news.Gap = f.Gap
	}
	if err != nil && ctx.Err() == nil {
		return news, err
	}
	now, loadErr := h.eng.Load(context.WithoutCancel(ctx), id)
	if loadErr == nil {
		st = now
	}
	if now := st.Task(name); now != nil && now.Act == act {
		t = now
	}
	news.Task = h.taskViews(context.WithoutCancel(ctx), id, []session.Task{*t})[0]
	return news, ctx.Err()
}

// waitEnd waits until nothing of a command is left. Of one that is about to start, its directory says that it is absent
// for a moment; that the log says so too is not waited for.
func (h *Home) waitEnd(ctx context.Context, owner, act string) error {
	for {
		st, err := h.runner.Wait(ctx, owner, act)
		if err != nil || st.Stragglers == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitPause):
		}
	}
}

// waitLine waits for a line, or nil when the command ends without one.
func (h *Home) waitLine(ctx context.Context, owner, act string, f *tools.Finder) (*string, error) {
	for {
		// The state comes first: what was printed before the end that it tells is then read below.
		st, err := h.runner.Look(ctx, owner, act)
		if err != nil {
			return nil, err
		}
		over := st.Status != command.Running && st.Stragglers == 0
		line, ok, err := h.findLine(ctx, owner, act, f, st.Output)
		if err == nil && !ok && over {
			line, ok = f.End()
		}
		switch {
		case err != nil:
			return nil, err
		case ok:
			return &line, nil
		case over:
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(waitPause):
		}
	}
}

// findLine looks at the output up to an offset.
func (h *Home) findLine(ctx context.Context, owner, act string, f *tools.Finder, end int64) (line string, ok bool, err error) {
	for ctx.Err() == nil && f.Next() < end {
		b, next, gap, err := h.runner.Read(owner, act, f.Next(), waitChunk)
		switch {
		case errors.Is(err, task.ErrMissing):
			return "", false, nil
		case err != nil:
			return "", false, err
		case next <= f.Next():
			return "", false, nil
		}
		if gap > 0 {
			if line, ok := f.Skip(gap); ok {
				return line, true, nil
			}
		}
		if line, ok := f.Write(b); ok {
			return line, true, nil
		}
	}
	return "", false, ctx.Err()
}
