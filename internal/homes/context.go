package homes

import (
	"context"

	"github.com/perdure/perdure/internal/window"
)

// ContextView is what the next request to the model holds.
type ContextView struct {
	SessionID string        `json:"session_id"`
	Model     string        `json:"model"`            // PROVIDER/MODEL
	Window    int64         `json:"window,omitempty"` // tokens; 0: unknown
	CompactAt int64         `json:"compact_at,omitempty"`
	Tokens    int64         `json:"tokens"` // of the request, estimated from what the API counted last
	Parts     []ContextPart `json:"parts"`
	System    string        `json:"system"`
	Tools     any           `json:"tools"`
	Messages  []MessageView `json:"messages"`
}

// ContextPart is one part of it.
type ContextPart struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"` // a share of the estimate, by bytes
	Bytes  int64  `json:"bytes"`
}

// Context shows what the next request of a session holds, with the tokens of each part.
func (h *Home) Context(ctx context.Context, id string) (*ContextView, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	t, err := h.eng.Transcript(ctx, st)
	if err != nil {
		return nil, err
	}
	v := &ContextView{
		SessionID: st.ID, Model: st.Agent.Provider + "/" + st.Agent.Model, Window: st.Agent.Window, CompactAt: st.Mark(),
		Tokens: st.Estimate(), System: st.Agent.System, Tools: jsonValue(st.Agent.Tools), Messages: messageViews(t, st),
	}
	for _, p := range window.Parts(st, t) {
		v.Parts = append(v.Parts, ContextPart{Name: p.Name, Tokens: p.Tokens, Bytes: p.Bytes})
	}
	return v, nil
}
