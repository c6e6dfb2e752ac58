package sessions

import (
	"context"
	"slices"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// The most that the overview prints of each list.
const (
	overviewSessions = 5
	overviewRows     = 8
	// OverviewLooked are the sessions among which those are that have a model: each task run makes one that has none.
	OverviewLooked = 200
)

// Overview is what perdure says when it is asked for nothing: the newest sessions of this directory, what waits for a
// human anywhere, what runs, and how to begin.
func Overview(ctx context.Context, a *app.App, h *homes.Home) error {
	q := store.Query{Limit: OverviewLooked}
	var page view.Page
	var err error
	if q.Cwd, err = a.Directory(here); err == nil { // else it is gone, with its sessions
		page, err = h.List(ctx, q)
		if err != nil {
			return err
		}
	}
	sessions := slices.DeleteFunc(page.Sessions, OnlyTasks)
	sessions = sessions[:min(len(sessions), overviewSessions)]
	if len(sessions) > 0 {
		a.Linef("Newest sessions in %s", display.Line(a.Tilde(q.Cwd), display.MaxCell))
		if err := Print(a, sessions, true); err != nil {
			return err
		}
		a.Linef("")
	}
	if err := overviewWaits(ctx, a, h); err != nil {
		return err
	}
	if err := overviewTasks(ctx, a, h); err != nil {
		return err
	}
	set, err := settings.Load(settings.UserFile(a.Getenv), q.Cwd)
	if err != nil {
		a.Note("%v", err) // a run says so, and does not begin
	} else {
		a.TellFirstRun(a.FirstRun(ctx, set))
	}
	a.Linef("Begin      perdure -p \"PROMPT\"")
	if len(sessions) > 0 {
		a.Linef("Go on      perdure -p -c \"PROMPT\"   the newest session here; -r ID another one")
	}
	a.Linef("See        perdure list, show ID, log ID, task list; perdure --help has the rest")
	return nil
}

// OnlyTasks reports whether a session was made by `perdure task run` and has no model to talk to.
func OnlyTasks(s view.Listing) bool { return modelOf(s) == "-" }

func overviewWaits(ctx context.Context, a *app.App, h *homes.Home) error {
	var waits []pending.Wait
	for _, kind := range []string{pending.Approval, pending.Question} {
		more, err := pending.All(ctx, a, h, kind)
		if err != nil {
			return err
		}
		waits = append(waits, more...)
	}
	if len(waits) == 0 {
		return nil
	}
	a.Linef("Waits for you")
	for _, w := range waits[:min(len(waits), overviewRows)] {
		if q := w.Call.Question; q != nil {
			itemf(a, "%s  asks: %s", shortWait(w), q.Question)
			continue
		}
		itemf(a, "%s  wants: %s %s", shortWait(w), w.Call.Tool, session.About(w.Call.Input))
	}
	a.Linef("  perdure approvals list, show ID; approvals allow ID, deny ID, answer ID TEXT")
	a.Linef("")
	return nil
}

// shortWait is the id of a wait with the end of its session's id, which is as good and can be read.
func shortWait(w pending.Wait) string {
	return app.ShortID(w.Session, app.ShortLength) + ":" + w.Call.ID
}

func overviewTasks(ctx context.Context, a *app.App, h *homes.Home) error {
	tasks, err := a.AllTasks(ctx, h)
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
	a.Linef("Runs now")
	if running > 0 {
		itemf(a, "%s: perdure list --activity running", display.Count(int64(running), "session"))
	}
	for _, t := range tasks[:min(len(tasks), overviewRows)] {
		itemf(a, "%s  %s  %s  %s", app.ShortID(t.SessionID, app.ShortLength), display.Called(t), display.TaskFigures(t), display.FirstLine(t.Command))
	}
	if n := len(tasks) - overviewRows; n > 0 {
		itemf(a, "and %s: perdure task list", display.Count(int64(n), "more task"))
	}
	a.Linef("")
	return nil
}
