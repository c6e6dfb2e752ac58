package sources

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/store"
)

// contextOf says what the next request of a session holds.
type contextOf struct {
	home *homes.Home
	id   string
}

// Context gives the source of the page of the context.
func Context(h *homes.Home, id string) panels.ContextSource { return contextOf{h, id} }

// Context reads the session's conversation, and of its log the newest reply. Errors: as of [homes.Home.Context].
func (s contextOf) Context(ctx context.Context) (panels.Context, error) {
	v, err := s.home.Context(ctx, s.id)
	if err != nil {
		return panels.Context{}, err
	}
	c := panels.Context{Model: v.Model, Window: v.Window, CompactAt: v.CompactAt, Tokens: v.Tokens}
	for _, p := range v.Parts {
		c.Parts = append(c.Parts, panels.Part{Name: p.Name, Tokens: p.Tokens})
	}
	newest := homes.Range{Kinds: []store.Kind{session.KindModelResponded}, Last: 1}
	for ev, err := range s.home.Range(ctx, s.id, newest) {
		if err != nil {
			return panels.Context{}, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return panels.Context{}, err
		}
		if b, ok := body.(*session.ModelResponded); ok {
			c.Cached, c.CachedAt = b.Usage.CacheRead+b.Usage.CacheWrite, time.UnixMilli(ev.Time)
		}
	}
	return c, nil
}
