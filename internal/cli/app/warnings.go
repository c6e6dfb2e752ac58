package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/store"
)

// Bounds of what is said of interrupted applies.
const (
	maxApplies  = 8
	maxApplyDir = 300 // characters
)

// Losses are what the home had acknowledged and does not have any more; what cannot be found out is none.
func Losses(ctx context.Context, h *homes.Home) []string {
	w, ok := h.Store().(store.Witness)
	if !ok {
		return nil
	}
	lost, err := w.Lost(ctx)
	if err != nil {
		return nil // What is wrong with the files is told by what reads them.
	}
	return lost
}

// WarnOfLosses says on stderr what is lost, and what to do about it.
func (a *App) WarnOfLosses(ctx context.Context, h *homes.Home) {
	lost := Losses(ctx, h)
	for _, l := range lost {
		a.Note("%s", l)
	}
	if len(lost) > 0 {
		a.Hint("%s", a.HintLosses(h))
	}
}

// HintLosses says what to do about losses that cannot be undone here. The note of them is made by the first command that
// writes, since the mark moves on then.
func (a *App) HintLosses(h *homes.Home) string {
	note := filepath.Join(h.Dir(), "perdure.lost")
	if _, err := os.Stat(note); err != nil {
		return "restore a backup, or go on with what is there: the next command that writes keeps a note in " + display.Quote(note)
	}
	return "restore a backup, or go on with what is there: rm " + display.Quote(note)
}

// WarnOfApplies tells of changes whose application to a directory was interrupted, so that the files there are half of
// one and half of the other, and of the way on: of all of them, or of those that a session has to do with.
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
