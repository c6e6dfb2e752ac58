package tasks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/taskpanel"
	"github.com/perdure/perdure/view"
)

// watchSource is a home as a panel of tasks sees it.
type watchSource struct {
	app     app.App // whose words are kept from the screen
	home    *homes.Home
	session string // empty: all
	reader  string

	mu      sync.Mutex
	tasks   map[taskpanel.Key]view.Task // as listed last
	readers map[string]*homes.Reader    // by act
}

func newWatchSource(a *app.App, h *homes.Home, reader string) *watchSource {
	s := &watchSource{app: *a, home: h, reader: reader, readers: map[string]*homes.Reader{}}
	return s
}

// List looks at all tasks.
func (s *watchSource) List(ctx context.Context) (out []taskpanel.Task, err error) {
	var views []view.Task
	if s.session != "" {
		views, err = s.home.Tasks().List(ctx, s.session)
	} else {
		// Sessions that cannot be read are left out here: task list names them.
		views, _, err = s.home.Tasks().All(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = make(map[taskpanel.Key]view.Task, len(views))
	for _, v := range views {
		t := panelTask(v)
		s.tasks[t.Key] = v
		if r, err := s.readerOf(ctx, v); err == nil {
			t.Unread = max(v.Output-r.Position(), 0)
		}
		out = append(out, t)
	}
	return out, nil
}

// readerOf is the place in a task's output up to where it was looked at.
func (s *watchSource) readerOf(ctx context.Context, v view.Task) (*homes.Reader, error) {
	key := v.SessionID + "/" + v.Act
	if r := s.readers[key]; r != nil {
		return r, nil
	}
	r, err := s.home.Tasks().ReaderOf(ctx, v, s.reader)
	if err == nil {
		s.readers[key] = r
	}
	return r, err
}

func panelTask(v view.Task) taskpanel.Task {
	t := taskpanel.Task{
		Key: taskpanel.Key{Session: v.SessionID, ID: v.ID}, Name: v.Name, Command: v.Command, Dir: v.Cwd,
		State: panelState(v), Status: panelStatus(v), Attempt: v.Attempt, PID: v.PID, Processes: v.Processes, Ports: v.Ports,
		Printed: v.Output, Started: time.UnixMilli(int64(v.Started)),
	}
	if v.Started == 0 {
		t.Started = time.Time{}
	}
	if v.Ended > 0 {
		t.Ended = time.UnixMilli(int64(v.Ended))
	}
	if v.CPU != nil {
		t.CPU = time.Duration(*v.CPU * float64(time.Second))
	}
	if v.RSS != nil {
		t.RSS = *v.RSS
	}
	if v.Status == string(command.Running) && v.Reason != "" {
		t.Incomplete = v.Reason
	}
	return t
}

// panelStatus is display.TaskStatus in fewer letters.
func panelStatus(v view.Task) string {
	switch {
	case v.Status == string(command.Killed) && v.By != "" && v.Stragglers == 0:
		return "killed by " + v.By
	case v.Status == string(command.Exited) && v.Stragglers > 0 && v.ExitCode != nil:
		return fmt.Sprintf("exited %d, %d left", *v.ExitCode, v.Stragglers)
	}
	return display.TaskStatus(v)
}

func panelState(v view.Task) taskpanel.State {
	switch {
	case v.Status == string(command.Running):
		return taskpanel.Running
	case v.Stragglers > 0:
		return taskpanel.Straggling
	case v.Status == string(command.Exited) && v.ExitCode != nil && *v.ExitCode == 0:
		return taskpanel.Succeeded
	case v.Status == string(command.Exited):
		return taskpanel.Failed
	case v.Status == string(command.Killed):
		return taskpanel.Killed
	}
	return taskpanel.Lost
}

// view is a task as it was listed last.
func (s *watchSource) view(k taskpanel.Key) (view.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.tasks[k]
	if !ok {
		return v, fmt.Errorf("task %s is no longer listed", k.ID)
	}
	return v, nil
}

// Tail reads the newest output, which counts as seen then. The place is stored when the panel is left.
func (s *watchSource) Tail(ctx context.Context, k taskpanel.Key, have int64, size int) (taskpanel.Tail, error) {
	v, err := s.view(k)
	if err != nil {
		return taskpanel.Tail{}, err
	}
	st, err := s.home.Commands().State(v.SessionID, v.Act)
	if err != nil || st.Output == have {
		return taskpanel.Tail{End: have}, err
	}
	tail := taskpanel.Tail{From: max(0, st.Output-int64(size))}
	tail.End = tail.From
	for len(tail.Bytes) < size {
		b, next, gap, err := s.home.Commands().Read(v.SessionID, v.Act, tail.End, size-len(tail.Bytes))
		if err != nil {
			return tail, err
		}
		if gap > 0 {
			tail.Bytes, tail.From = nil, tail.End+gap
		}
		if next == tail.End {
			break
		}
		tail.Bytes, tail.End = append(tail.Bytes, b...), next
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, err := s.readerOf(ctx, v); err == nil {
		r.MoveTo(max(r.Position(), tail.End))
	}
	return tail, nil
}

// Kill ends a task the way task kill does.
func (s *watchSource) Kill(ctx context.Context, k taskpanel.Key) error {
	return s.quietly(func(a *app.App) error {
		return s.do(k, func(v view.Task) error { return killTasks(ctx, a, s.home, []view.Task{v}) })
	})
}

// Restart runs a task again the way task restart does.
func (s *watchSource) Restart(ctx context.Context, k taskpanel.Key) error {
	return s.quietly(func(a *app.App) error {
		return s.do(k, func(v view.Task) error {
			_, err := restart(ctx, a, s.home, v)
			return err
		})
	})
}

// do does something with a task as it is now.
func (s *watchSource) do(k taskpanel.Key, act func(v view.Task) error) error {
	v, err := s.view(k)
	if err != nil {
		return err
	}
	return act(v)
}

// quietly does something whose words would tear the screen. Of an error the hint is kept.
func (s *watchSource) quietly(do func(a *app.App) error) error {
	var said bytes.Buffer
	a := s.app
	a.Stdout, a.Stderr = &said, &said
	err := do(&a)
	var e *app.ExitError
	if errors.As(err, &e) && e.Hint != "" {
		return fmt.Errorf("%w: %s", err, e.Hint)
	}
	return err
}

// Hints are command lines for one task.
func (s *watchSource) Hints(t taskpanel.Task) []string {
	name := t.Session + " " + t.ID
	if t.State.Live() {
		return []string{"perdure task attach " + name}
	}
	return []string{"perdure task output " + name}
}

// close stores what was looked at.
func (s *watchSource) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.readers {
		errs = append(errs, r.Commit(ctx))
	}
	return errors.Join(errs...)
}

// PanelSource is what a panel of a session's tasks shows and does; empty: of all sessions. What was looked at there is
// apart from what task output --new has shown.
func PanelSource(a *app.App, h *homes.Home, session string) taskpanel.Source {
	s := newWatchSource(a, h, "screen")
	s.session = session
	return s
}
