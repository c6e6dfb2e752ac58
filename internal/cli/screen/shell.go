package screen

import (
	"context"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/cli/tasks"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
)

// Shell starts a line of a shell for the person, as perdure task run does: what a deny rule names is not run, and it
// goes on when the screen is left. A session that is not made yet is made, since the task belongs to one.
func (l *link) Shell(ctx context.Context, line string) (chat.Ran, error) {
	r := chat.Ran{Line: line}
	done, err := l.enter()
	if err != nil {
		return r, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendWithin)
	defer cancel()
	if err := l.made(ctx, "! "+line); err != nil {
		return r, err
	}
	id, _, err := l.there()
	if err != nil {
		return r, err
	}
	st, err := l.state(ctx)
	if err != nil {
		return r, err
	}
	t, err := tasks.Shell(ctx, l.app, l.home, id, newKey(), line, st.Cwd)
	if err != nil {
		return r, err
	}
	defer l.look()
	r.Task, r.Act = t.ID, session.BaseOf(t.Act)
	return r, nil
}

// ShellEnd waits for its end. Whoever leaves the screen stops waiting, and it goes on.
func (l *link) ShellEnd(ctx context.Context, r chat.Ran) (chat.Ran, error) {
	id, _, err := l.there()
	if err != nil {
		return r, err
	}
	st, err := l.state(ctx)
	if err != nil {
		return r, err
	}
	act := ""
	for _, t := range st.Tasks {
		if t.ID == r.Task {
			act, r.Took = t.Act, time.Duration(max(t.Ended-t.Started, 0))*time.Millisecond
		}
	}
	if act == "" {
		return r, fmt.Errorf("task %s is not there", r.Task)
	}
	end, err := l.home.Commands().Wait(ctx, id, act)
	if err != nil {
		return r, err
	}
	switch {
	case end.ExitCode != nil && *end.ExitCode != 0:
		r.How = fmt.Sprintf("exit code %d", *end.ExitCode)
	case end.ExitCode == nil && end.Signal != "":
		r.How = fmt.Sprintf("%s by %s", end.Status, end.Signal)
	case end.ExitCode == nil:
		r.How = string(end.Status)
	}
	r.Output, r.Omitted, err = printed(l.home, id, act)
	return r, err
}
