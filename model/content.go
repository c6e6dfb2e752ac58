// Package model is what is said between people, tools and models: a conversation is a list of [Message], and each call of
// a model has its [Usage] and a [Price]. What a model says is kept as its API sent it ([Block].Raw), and goes back so.
package model

// Message is one entry of the conversation as the model sees it.
type Message struct {
	Role   Role
	Blocks []Block
}

// Role is who speaks.
type Role string

// The roles of a conversation.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Block is one piece of a message. An assistant's block carries the provider's bytes in Raw; they go back to that
// provider verbatim and are never decoded and re-encoded. The other fields are a thin view for everybody else.
type Block struct {
	Type     BlockType
	Raw      []byte // provider bytes, assistant blocks only
	Provider string // whose bytes Raw are
	Text     string // text blocks; shown text of other blocks may be empty
	Tool     *ToolUse
	Result   *ToolResult
	Media    string // MIME type of images and documents
	Data     []byte // bytes of images and documents
}

// BlockType says what a block is.
type BlockType string

// The block types that Perdure looks into. Anything else a provider sends is BlockOther and is only carried.
const (
	BlockText       BlockType = "text"
	BlockThinking   BlockType = "thinking"
	BlockToolUse    BlockType = "tool_use"
	BlockToolResult BlockType = "tool_result"
	BlockImage      BlockType = "image"
	BlockDocument   BlockType = "document"
	BlockOther      BlockType = "other"
)

// ToolUse is a model's wish to call a tool. ID is the provider's and only data; acts have ids of their own.
type ToolUse struct {
	ID    string
	Name  string
	Input []byte // JSON as the model wrote it, verbatim
}

// ToolResult answers a ToolUse by its ID.
type ToolResult struct {
	ID      string
	IsError bool
	Content []Part
}

// Part is a piece of a tool result or of a received message: text (UTF-8 in Data), an image or a document.
type Part struct {
	Type  BlockType `json:"type"`
	Media string    `json:"media,omitempty"`
	Data  []byte    `json:"-"`
}

// TextPart makes a text part.
func TextPart(s string) Part { return Part{Type: BlockText, Data: []byte(s)} }

// Text joins the text parts of p.
func Text(parts []Part) string {
	var n int
	for _, p := range parts {
		if p.Type == BlockText {
			n += len(p.Data)
		}
	}
	out := make([]byte, 0, n)
	for _, p := range parts {
		if p.Type == BlockText {
			out = append(out, p.Data...)
		}
	}
	return string(out)
}
