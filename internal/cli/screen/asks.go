// Package screen is what a person at a terminal works in: one session that this process holds, with its conversation and
// what it asks.
package screen

import (
	"context"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/inbox"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/theme"
)

// newAsks is the list of what a session asks, for the place above the composer. An answer goes through the inbox, as one
// from any other terminal does, so that of two answers one counts. key is the one that opens it, for its strip.
func newAsks(a *app.App, h *homes.Home, session, key string, style theme.Styles) *asks.Model {
	return asksOf(a, inbox.NewSource(a, h, session), key, style)
}

func asksOf(a *app.App, source asks.Source, key string, style theme.Styles) *asks.Model {
	return asks.New(asks.Config{Source: source, Now: a.Now, Style: style, Key: key})
}

// asks is the list of what the session of a screen asks.
func (l *link) asks() *asks.Model {
	return asksOf(l.app, answers{inbox.NewSource(l.app, l.home, l.session()), l}, "ctrl+o", l.app.Styles())
}

// answers is the source of what a session asks that may be held still: whoever answers says that it goes on.
type answers struct {
	asks.Source
	link *link
}

// Answer brings an answer.
func (s answers) Answer(ctx context.Context, a asks.Ask, ans asks.Answer) error {
	done, err := s.link.enter()
	if err != nil {
		return err
	}
	defer done()
	if err := s.Source.Answer(ctx, a, ans); err != nil {
		return err
	}
	return s.link.begin(ctx)
}
