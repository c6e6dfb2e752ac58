package homes

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/view"
)

// Context shows what the next request of a session holds, with the tokens of each part.
func (h *Home) Context(ctx context.Context, id string) (*view.Context, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	t, err := h.eng.Transcript(ctx, st)
	if err != nil {
		return nil, err
	}
	return &view.Context{
		SessionID: st.ID, Model: st.Agent.Provider + "/" + st.Agent.Model, Window: st.Agent.Window, CompactAt: st.Mark(),
		Tokens: st.Estimate(), System: st.Agent.System, Tools: jsonValue(st.Agent.Tools), Messages: messageViews(t, st),
		Parts: window.Parts(st, t),
	}, nil
}

// NothingToCompact says why a compaction of a session is worth no call of the model; empty: it is. One that is under
// way, and what a turn rests at, is never too small.
func (h *Home) NothingToCompact(ctx context.Context, id string) (why string, err error) {
	st, err := h.State(ctx, id)
	if err != nil || st.Context.Replies == 0 || st.Compaction != nil || st.Failure() != nil {
		return "", err
	}
	t, err := h.eng.Transcript(ctx, st)
	if err != nil {
		return "", err
	}
	steps, small := window.TooSmall(st, t)
	if !small {
		return "", nil
	}
	return fmt.Sprintf("there is nothing worth compacting: about %s of the %s tokens of a request are conversation, and a summary takes as much",
		plain.Grouped(steps), plain.Grouped(st.Estimate())), nil
}
