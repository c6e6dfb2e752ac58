package cli

import (
	"context"
	"slices"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// The most that the overview prints of each list.
const (
	overviewSessions = 5
	overviewRows     = 8
	// overviewLooked are the sessions among which those are that have a model: each task run makes one that has none.
	overviewLooked = 200
)

// overview is what perdure says when it is asked for nothing: the newest sessions of this directory, what waits for a
// human anywhere, what runs, and how to begin.
func (a *App) overview(ctx context.Context, h *homes.Home) error {
	q := store.Query{Limit: overviewLooked}
	var page view.Page
	var err error
	if q.Cwd, err = a.directory(here); err == nil { // else it is gone, with its sessions
		page, err = h.List(ctx, q)
		if err != nil {
			return err
		}
	}
	sessions := slices.DeleteFunc(page.Sessions, onlyTasks)
	sessions = sessions[:min(len(sessions), overviewSessions)]
	if len(sessions) > 0 {
		a.linef("Newest sessions in %s", oneline(a.tilde(q.Cwd), maxCell))
		if err := a.printSessions(sessions, true); err != nil {
			return err
		}
		a.linef("")
	}
	if err := a.overviewWaits(ctx, h); err != nil {
		return err
	}
	if err := a.overviewTasks(ctx, h); err != nil {
		return err
	}
	a.linef("Begin      perdure -p \"PROMPT\"")
	if len(sessions) > 0 {
		a.linef("Go on      perdure -p -c \"PROMPT\"   the newest session here; -r ID another one")
	}
	a.linef("See        perdure list, show ID, log ID, task list; perdure --help has the rest")
	return nil
}

// onlyTasks reports whether a session was made by `perdure task run` and has no model to talk to.
func onlyTasks(s view.Listing) bool { return modelOf(s) == "-" }

func (a *App) overviewWaits(ctx context.Context, h *homes.Home) error {
	var waits []wait
	for _, kind := range []string{kindApproval, kindQuestion} {
		more, err := a.allWaits(ctx, h, kind)
		if err != nil {
			return err
		}
		waits = append(waits, more...)
	}
	if len(waits) == 0 {
		return nil
	}
	a.linef("Waits for you")
	for _, w := range waits[:min(len(waits), overviewRows)] {
		if q := w.call.Question; q != nil {
			a.itemf("%s  asks: %s", shortWait(w), q.Question)
			continue
		}
		a.itemf("%s  wants: %s %s", shortWait(w), w.call.Tool, session.About(w.call.Input))
	}
	a.linef("  perdure approvals list, show ID; approvals allow ID, deny ID, answer ID TEXT")
	a.linef("")
	return nil
}

// shortWait is the id of a wait with the end of its session's id, which is as good and can be read.
func shortWait(w wait) string { return shortID(w.session, shortLength) + ":" + w.call.ID }

func (a *App) overviewTasks(ctx context.Context, h *homes.Home) error {
	tasks, err := a.allTasks(ctx, h)
	if err != nil {
		return err
	}
	tasks = slices.DeleteFunc(tasks, func(t view.Task) bool { return !t.Live() })
	running := 0
	err = h.Each(ctx, store.Query{Activity: string(session.Running)}, func(view.Listing) error {
		running++
		return nil
	})
	if err != nil {
		return err
	}
	if len(tasks) == 0 && running == 0 {
		return nil
	}
	a.linef("Runs now")
	if running > 0 {
		a.itemf("%s: perdure list --activity running", count(int64(running), "session"))
	}
	for _, t := range tasks[:min(len(tasks), overviewRows)] {
		a.itemf("%s  %s  %s  %s", shortID(t.SessionID, shortLength), called(t), a.taskFigures(t), firstLine(t.Command))
	}
	if n := len(tasks) - overviewRows; n > 0 {
		a.itemf("and %s: perdure task list", count(int64(n), "more task"))
	}
	a.linef("")
	return nil
}
