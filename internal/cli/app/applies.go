package app

import (
	"context"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
)

// Bounds of what is said of interrupted applies.
const (
	maxApplies  = 8
	maxApplyDir = 300 // characters
)

// WarnOfApplies tells of changes whose application to a directory was interrupted, so that the files there are half of one and
// half of the other, and of the way on: of all of them, or of those that a session has to do with.
func (a *App) WarnOfApplies(ctx context.Context, h *homes.Home, id string) {
	open := h.OpenApplies(ctx, id)
	for i := range open {
		if i == maxApplies {
			a.Note("and %d more were interrupted", len(open)-i)
			return
		}
		r := &open[i]
		to := display.Quote(plain.Line(r.Dir, maxApplyDir))
		a.Note("%s to %s was interrupted: files there may be half of it", r.Words(), plain.Line(a.Tilde(r.Dir), maxApplyDir))
		if r.Undo != "" {
			a.Hint("perdure apply --undo --to %s finishes that", to)
			continue
		}
		a.Hint("perdure apply %s --to %s finishes it, perdure apply --undo --to %s takes it back", plain.Line(r.Session, maxApplyDir), to, to)
	}
}
