package app

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// noModel is what a session has that was made for a task.
const noModel = "none/none"

// Newest finds the newest session of this directory that was not closed.
func (a *App) Newest(ctx context.Context, h *homes.Home) (string, error) {
	dir, err := a.Workdir()
	if err != nil {
		return "", err
	}
	id, err := newest(ctx, h, store.Query{Cwd: dir})
	if err == nil && id == "" {
		err = &ExitError{
			Code: ExitMissing, Text: "no session that can go on was opened in " + dir,
			Hint: "perdure list shows those of other directories; -r ID resumes one",
		}
	}
	return id, err
}

// NewestSeat is Newest for a person at a screen: of the sessions in which somebody has written on one, if there are any, so
// that a script which ran since comes between nobody and their conversation.
func (a *App) NewestSeat(ctx context.Context, h *homes.Home) (string, error) {
	dir, err := a.Workdir()
	if err != nil {
		return "", err
	}
	id, err := newest(ctx, h, store.Query{Cwd: dir, Labels: map[string]string{LabelSeat: SeatScreen}})
	if err != nil || id != "" {
		return id, err
	}
	return a.Newest(ctx, h)
}

// newest finds the newest of some sessions that was not closed; empty: there is none.
func newest(ctx context.Context, h *homes.Home, q store.Query) (string, error) {
	for q.Limit = 100; ; {
		page, err := h.Store().List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, s := range page.Sessions {
			if s.Heads.Model == noModel && s.Heads.Turns == 0 { // it holds tasks, and nobody ever talked in it
				continue
			}
			if l := session.Lifecycle(s.Heads.Lifecycle); l == session.LifecycleOpen || l == session.LifecyclePaused {
				return s.ID, nil
			}
		}
		if q.After = page.Next; q.After == "" {
			return "", nil
		}
	}
}
