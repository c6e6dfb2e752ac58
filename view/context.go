package view

// Context is what the next request to the model holds.
type Context struct {
	SessionID string        `json:"session_id"`
	Model     string        `json:"model"`            // PROVIDER/MODEL
	Window    int64         `json:"window,omitempty"` // tokens; 0: unknown
	CompactAt int64         `json:"compact_at,omitempty"`
	Tokens    int64         `json:"tokens"` // of the request, estimated from what the API counted last
	Parts     []ContextPart `json:"parts"`
	System    string        `json:"system"`
	Tools     any           `json:"tools"`
	Messages  []Message     `json:"messages"`
}

// ContextPart is one part of it.
type ContextPart struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"` // a share of the estimate, by bytes
	Bytes  int64  `json:"bytes"`
}
