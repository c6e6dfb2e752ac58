package care

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// staleAfter is how long a task runs until doctor asks whether anybody still wants it.
const staleAfter = 7 * 24 * time.Hour

// heldSession is a session and who may append to it.
type heldSession struct {
	Session string `json:"session_id"`
	*view.Holder
}

// liveTask is a task of which a process lives, and the command that ends it.
type liveTask struct {
	view.Task
	Stale string `json:"stale,omitempty"` // why nobody may be waiting for it any more
	End   string `json:"end"`
}

// strayAct is a command's directory that no task and no open act belongs to.
type strayAct struct {
	Session string         `json:"session_id"`
	Act     string         `json:"act"`
	Status  command.Status `json:"status"`
	PID     int            `json:"pid,omitempty"`
	Why     string         `json:"why"`
	End     string         `json:"end,omitempty"`
}

// sessions looks at every session: who holds it, whether its state can be computed, what of it runs.
func (d *diagnosis) sessions(ctx context.Context, a *app.App, h *homes.Home) error {
	count, broken := 0, 0
	needed := map[string]map[string]bool{} // acts by session
	err := app.EachSession(ctx, h, store.Query{}, func(s store.Info) error {
		count++
		needed[s.ID] = map[string]bool{}
		if s.Holder != nil {
			d.Holders = append(d.Holders, heldSession{Session: s.ID, Holder: homes.HolderOf(s.Holder)})
			if s.Holder.Alive == store.Unknown {
				d.add(levelWarn, "session", "if that machine is gone: "+a.Command("takeover", s.ID)+", or "+a.Command("fork", s.ID),
					"%s is held by pid %d on %s, which cannot be seen from here", s.ID, s.Holder.PID, s.Holder.Host)
			}
		}
		st, err := h.State(ctx, s.ID)
		switch {
		case errors.Is(err, engine.ErrNoEvents):
			d.add(levelWarn, "session", a.Command("delete", s.ID), "%s has no events: another program made it", s.ID)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			broken++
			d.add(levelFail, "session", a.Command("verify", s.ID), "%v", err)
			needed[s.ID] = nil // unknown: nothing of it is called stray
			return nil
		}
		d.ofSession(a, h, st, needed[s.ID])
		return nil
	})
	if err != nil {
		return err
	}
	if broken == 0 {
		d.add(levelOK, "sessions", "", "%d, all readable; perdure verify --all checks every event", count)
	}
	return d.strays(a, h, needed)
}

// ofSession notes the tasks that live, and which acts need their directories.
func (d *diagnosis) ofSession(a *app.App, h *homes.Home, st *session.State, needed map[string]bool) {
	for _, t := range h.Tasks().Of(st) {
		if t.SessionID != st.ID {
			continue
		}
		needed[t.Act] = true
		for _, before := range t.Attempts {
			needed[before.Act] = true
		}
		if !t.Live() {
			continue
		}
		live := liveTask{Task: t, End: a.Command("task", "kill", st.ID, t.ID)}
		switch {
		case st.Lifecycle != session.LifecycleOpen && st.Lifecycle != session.LifecyclePaused:
			live.Stale = "its session is " + string(st.Lifecycle)
		case t.Reason == command.ReasonOrphaned:
			live.Stale = "its shim died: its output is no longer collected"
		case t.Stragglers > 0:
			live.Stale = "the command ended and left " + display.Count(int64(t.Stragglers), "process")
		case a.Now().Sub(time.UnixMilli(int64(t.Started))) > staleAfter:
			live.Stale = fmt.Sprintf("it has run for more than %d days", int(staleAfter.Hours())/24)
		}
		d.Tasks = append(d.Tasks, live)
	}
	if st.Turn != nil {
		for _, c := range st.Turn.Calls {
			if !c.Settled() {
				needed[c.ID] = true
			}
		}
	}
}

// strays looks for directories of commands that nothing needs.
func (d *diagnosis) strays(a *app.App, h *homes.Home, needed map[string]map[string]bool) error {
	r := h.Commands()
	if r == nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(h.Dir(), "acts"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		acts, err := r.List(e.Name())
		keep, known := needed[e.Name()]
		if err != nil || known && keep == nil {
			continue // no session's name, or a session that cannot be read
		}
		for _, act := range acts {
			if !keep[act] {
				d.stray(a, r, e.Name(), act, known)
			}
		}
	}
	if len(d.Acts) > 0 {
		d.add(levelWarn, "strays", "", "left over of commands: %s", display.Count(int64(len(d.Acts)), "directory"))
	}
	return nil
}

func (d *diagnosis) stray(a *app.App, r *task.Runner, id, act string, known bool) {
	st, err := r.State(id, act)
	if err != nil {
		d.add(levelWarn, "strays", "", "%v", err)
		return
	}
	o := strayAct{Session: id, Act: act, Status: st.Status, PID: st.PID, Why: "its outcome is in the log"}
	if !known {
		o.Why = "its session does not exist"
	}
	switch {
	case st.Status == command.Running || st.Stragglers > 0:
		o.End = a.Command("task", "kill", "--stray", id+"/"+act)
	default:
		o.End = "rm -r " + display.Quote(filepath.Join(r.Dir, id, act))
	}
	d.Acts = append(d.Acts, o)
}
