package view

import "github.com/perdure/perdure/model"

// Message is one message of the conversation.
type Message struct {
	Role    model.Role `json:"role"`
	Content []Content  `json:"content"`
}

// Content is one block: text has text, tool_use an id, a name and an input, tool_result the id of its call and
// content; of images and documents the bytes are only named, and everything else is the provider's JSON.
type Content struct {
	Type    model.BlockType `json:"type"`
	Text    *string         `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   any             `json:"input,omitempty"`
	CallID  string          `json:"tool_use_id,omitempty"`
	IsError *bool           `json:"is_error,omitempty"`
	Content []Content       `json:"content,omitempty"`
	Media   string          `json:"media_type,omitempty"`
	Bytes   int             `json:"bytes,omitempty"`
	Digest  string          `json:"digest,omitempty"`
	Raw     any             `json:"raw,omitempty"`
}
