package homes

import (
	"context"

	"github.com/perdure/perdure/internal/session"
)

// Configure changes the mode, the limits, the compaction or the model of a session, whoever holds it: its holder takes
// it between two steps. The other fields of opt are not read. The mode in which nothing asks is refused: that is for
// [Session.Configure], of whoever holds the session. Errors: engine.ErrRefused.
func (h *Home) Configure(ctx context.Context, id string, opt Options) error {
	c := &session.Configured{MaxSteps: opt.MaxSteps, BudgetNano: opt.BudgetNano, CompactAt: opt.CompactAt, NoCompact: opt.NoCompact}
	if opt.Mode != "" {
		mode := string(opt.Mode)
		c.Mode = &mode
	}
	if a := opt.Agent; a != nil {
		c.Provider, c.Model, c.MaxTokens, c.Window, c.Price = &a.Provider, &a.Model, &a.MaxTokens, &a.Window, a.Price
	}
	return h.Deliver(ctx, id, "", c)
}

// Configure applies options to the session that this process holds, as its opening does. Errors: of ctx, and of the
// session's end.
func (s *Session) Configure(ctx context.Context, opt Options) error {
	if err := s.home.movesSomewhere(ctx, s.id, opt); err != nil {
		return err
	}
	return s.do(ctx, func() error { return s.held.Configure(ctx, opt) })
}
