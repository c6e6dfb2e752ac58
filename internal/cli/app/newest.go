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
	q := store.Query{Cwd: dir, Limit: 100}
	for {
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
			return "", &ExitError{
				Code: ExitMissing, Text: "no session that can go on was opened in " + dir,
				Hint: "perdure list shows those of other directories; -r ID resumes one",
			}
		}
	}
}
