package app

import (
	"context"
	"unicode"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/store"
)

// maxCalled bounds a name by which a session is called in a command that is shown, in characters.
const maxCalled = 40

// Call is the shortest by which [App.Resolve] finds a session, as it is typed in a shell: its name, or the end of its
// id. Where nobody reads it from a screen, but perhaps a program, it is the id.
func (a *App) Call(ctx context.Context, h *homes.Home, id string) string {
	if !a.Screen {
		return id
	}
	return display.Quote(Called(ctx, h, id))
}

// Called is [App.Call] for words on the screen, as it is typed there.
func Called(ctx context.Context, h *homes.Home, id string) string {
	info, err := h.Store().Get(ctx, id)
	if err != nil {
		return id
	}
	if name := info.Heads.Title; callable(name) && !taken(ctx, h, name, id) {
		if page, err := h.Store().List(ctx, store.Query{Title: name, Limit: 2}); err == nil && len(page.Sessions) == 1 {
			return name
		}
	}
	short := ShortID(id, ShortLength)
	page, err := h.Store().List(ctx, store.Query{Title: short, Limit: 1})
	if err != nil || len(page.Sessions) > 0 || short == id || taken(ctx, h, short, id) {
		return id
	}
	if found, err := byPart(ctx, h, short); err != nil || len(found) != 1 {
		return id
	}
	return short
}

// callable reports whether a name can be read and typed: no flag, nothing that is not shown as it is.
func callable(name string) bool {
	if name == "" || name[0] == '-' || len([]rune(name)) > maxCalled {
		return false
	}
	for _, r := range name {
		if r != ' ' && !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) {
			return false
		}
	}
	return true
}

// taken reports whether a name is the id of another session, which Resolve takes first.
func taken(ctx context.Context, h *homes.Home, name, id string) bool {
	if !store.ValidID(name) || name == id {
		return false
	}
	_, err := h.Store().Get(ctx, name)
	return err == nil
}
