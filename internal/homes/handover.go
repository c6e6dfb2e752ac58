package homes

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// HandOver brings a session what a run would bring it, the options and the prompt, and gives the session back without
// running it: another process is to go on. All of it is in the log when HandOver returns, so whoever resumes the session,
// with no options, has the same rules, limits and directories. A mode that lasts no longer than a run is lost by it.
//
// Errors: those of [Home.Run].
func (h *Home) HandOver(ctx context.Context, id string, opt RunOptions) error {
	opt.NewPrompt = opt.Prompt != ""
	if opt.NewPrompt && session.Blank([]model.Part{model.TextPart(opt.Prompt)}) {
		return fmt.Errorf("run session %s: %w: a prompt without words", id, engine.ErrRefused)
	}
	s, err := h.open(ctx, id, opt.Options)
	if err != nil {
		return err
	}
	if err = h.begin(ctx, s, opt); err == nil {
		err = s.Drain(ctx)
	}
	return errors.Join(err, s.Close(ctx, "handed over"))
}
