package view

// Context is what the next request to the model holds.
type Context struct {
	SessionID string        `json:"session_id"`
	Model     string        `json:"model"`                // PROVIDER/MODEL
	Window    int64         `json:"window,omitempty"`     // tokens; 0: unknown
	CompactAt int64         `json:"compact_at,omitempty"` // tokens from which on the conversation is compacted; 0: unknown
	Tokens    int64         `json:"tokens"`               // of the request, estimated from what the API counted last
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

// Compaction is what a request for a compaction has come to.
type Compaction struct {
	SessionID string `json:"session_id"`
	Done      bool   `json:"compacted"`
	N         int64  `json:"n,omitempty"`
	By        string `json:"by,omitempty"` // who made the summary: model or rule
	Before    int64  `json:"tokens_before,omitempty"`
	After     int64  `json:"tokens_after,omitempty"` // estimated
	Why       string `json:"why,omitempty"`          // it is not done yet
}
