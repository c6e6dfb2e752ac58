package homes

import (
	"context"

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
