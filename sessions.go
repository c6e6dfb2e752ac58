package perdure

import (
	"context"

	"github.com/perdure/perdure/engine"
)

// Open takes a session's lease, for a program that advances or writes the session itself; [Home.Run] does it alone.
// Close what it returns. Errors: store.ErrNotFound, *store.HeldError, *store.CorruptError, store.ErrUncertain.
func (h *Home) Open(ctx context.Context, id string, opt engine.Options) (*engine.Session, error) {
	return h.Engine.Open(ctx, id, opt)
}
