// Package screen is what a person at a terminal works in: one session that this process holds, with its conversation and
// what it asks.
package screen

import (
	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/theme"
)

// newAsks is the list of what a session asks, for the place above the composer. An answer goes through the inbox, as one
// from any other terminal does, so that of two answers one counts. key is the one that opens it, for its strip.
func newAsks(a *app.App, h *homes.Home, session, key string, style theme.Styles) *asks.Model {
	return asks.New(asks.Config{Source: inbox.NewSource(a, h, session), Now: a.Now, Style: style, Key: key})
}
