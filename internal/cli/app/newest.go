package app

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// noModel is what a session has that was made for a task.
const noModel = "none/none"

// Newest finds the newest session of this directory, or of a copy of it that a session has of its own, that was not closed.
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

// newest finds the newest of some sessions of a directory, and of those in a copy of it, that was not closed; empty: there
// is none.
func newest(ctx context.Context, h *homes.Home, q store.Query) (string, error) {
	here, err := newestOf(ctx, h, q)
	if err != nil {
		return "", err
	}
	copies, err := h.Copies(ctx, q.Cwd)
	if err != nil {
		return "", err
	}
	for _, c := range copies {
		if goesOn(c.Info) && labelled(c.Info, q.Labels) && (here.ID == "" || c.Updated > here.Updated) {
			return c.ID, nil // the newest of them comes first
		}
	}
	return here.ID, nil
}

// labelled reports whether a session has all these labels.
func labelled(s store.Info, labels map[string]string) bool {
	for k, v := range labels {
		if have, ok := s.Heads.Labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// goesOn reports a session that was not closed, and in which anybody ever talked: one made for tasks holds nothing else.
func goesOn(s store.Info) bool {
	if s.Heads.Model == noModel && s.Heads.Turns == 0 {
		return false
	}
	l := session.Lifecycle(s.Heads.Lifecycle)
	return l == session.LifecycleOpen || l == session.LifecyclePaused
}

// newestOf finds the newest that was not closed; without an id: there is none.
func newestOf(ctx context.Context, h *homes.Home, q store.Query) (store.Info, error) {
	for q.Limit = 100; ; {
		page, err := h.Store().List(ctx, q)
		if err != nil {
			return store.Info{}, err
		}
		for _, s := range page.Sessions {
			if goesOn(s) {
				return s, nil
			}
		}
		if q.After = page.Next; q.After == "" {
			return store.Info{}, nil
		}
	}
}
