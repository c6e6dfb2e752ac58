package openai

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/model"
)

// conversation renders messages one after the other. What a user says is gathered until an assistant speaks, so that
// user messages in a row become one, after the tool messages.
type conversation struct {
	name      string // whose raw blocks are ours
	files     bool
	reasoning bool

	out    []byte
	spoken bool // a user message was the first
	tools  []*model.ToolResult
	user   []model.Part
}

func (c *conversation) add(m model.Message) error {
	switch m.Role {
	case model.RoleUser:
		for i, bl := range m.Blocks {
			if err := c.hear(bl); err != nil {
				return fmt.Errorf("block %d: %w", i, err)
			}
		}
		return nil
	case model.RoleAssistant:
		return c.speak(m.Blocks)
	}
	return fmt.Errorf("unknown role %q", m.Role)
}

func (c *conversation) hear(bl model.Block) error {
	switch bl.Type {
	case model.BlockText:
		if !blank(bl.Text) {
			c.user = append(c.user, model.TextPart(bl.Text))
		}
		return nil
	case model.BlockImage, model.BlockDocument:
		c.user = append(c.user, model.Part{Type: bl.Type, Media: bl.Media, Data: bl.Data})
		return nil
	case model.BlockToolResult:
		if bl.Result == nil {
			return fmt.Errorf("a tool result without a result")
		}
		c.tools = append(c.tools, bl.Result)
		return nil
	case model.BlockThinking, model.BlockToolUse, model.BlockOther:
	}
	return fmt.Errorf("a user can't say a block of type %q", bl.Type)
}

// speak renders an assistant's message. One without text and calls is left out.
func (c *conversation) speak(blocks []model.Block) error {
	var text, calls, extra []byte
	for _, bl := range blocks {
		own := bl.Provider == c.name && len(bl.Raw) > 0
		switch bl.Type {
		case model.BlockText:
			t := raw.AppendString(nil, bl.Text)
			if v := raw.Get(bl.Raw, "text"); own && v != nil {
				t = v
			}
			inner, _ := raw.Inner(t)
			if said, ok := raw.String(t); !ok || blank(said) {
				continue
			}
			if len(text) > 0 {
				text = append(text, `\n\n`...)
			}
			text = append(text, inner...)
		case model.BlockToolUse:
			if bl.Tool == nil {
				return fmt.Errorf("a tool call without a tool")
			}
			if len(calls) > 0 {
				calls = append(calls, ',')
			}
			if own {
				calls = append(calls, bl.Raw...)
			} else {
				calls = appendCall(calls, bl.Tool.ID, bl.Tool.Name, quoteInput(bl.Tool.Input))
			}
		case model.BlockThinking:
			if own && c.reasoning {
				extra = appendReasoning(extra, bl.Raw)
			}
		case model.BlockToolResult, model.BlockImage, model.BlockDocument, model.BlockOther:
		}
	}
	if len(text) == 0 && len(calls) == 0 {
		return nil
	}
	if c.flush(); !c.spoken {
		return fmt.Errorf("the assistant speaks before the user")
	}
	b := []byte("null")
	if len(text) > 0 {
		b = raw.Quote(text)
	}
	b = append(b, extra...)
	if len(calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		b = append(append(b, calls...), ']')
	}
	c.message(`{"role":"assistant","content":`, b)
	return nil
}

// flush renders the tool messages and the user's message that wait.
func (c *conversation) flush() {
	var pictures []model.Part
	for _, r := range c.tools {
		var text []byte
		if r.IsError {
			text = append(text, "Error: "...)
		}
		text = append(text, model.Text(r.Content)...)
		for _, p := range r.Content {
			if p.Type != model.BlockText {
				pictures = append(pictures, model.TextPart("From the tool call "+r.ID+":"), p)
			}
		}
		if blank(string(text)) {
			text = []byte("(no output)")
		}
		b := raw.AppendString(nil, string(text))
		b = append(b, `,"tool_call_id":`...)
		c.message(`{"role":"tool","content":`, raw.AppendString(b, r.ID))
		c.spoken = true
	}
	if parts := append(pictures, c.user...); len(parts) > 0 {
		c.message(`{"role":"user","content":`, c.content(parts))
		c.spoken = true
	}
	c.tools, c.user = nil, nil
}

// content renders a user's parts: as one string when all is text, else as an array.
func (c *conversation) content(parts []model.Part) []byte {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if t, ok := c.asText(p); ok {
			texts = append(texts, t)
		}
	}
	if len(texts) == len(parts) {
		return raw.AppendString(nil, strings.Join(texts, "\n\n"))
	}
	b := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.appendPart(b, p)
	}
	return append(b, ']')
}

// asText tells what is said in words: text, documents of text, and documents that the server would not take.
func (c *conversation) asText(p model.Part) (string, bool) {
	switch {
	case p.Type == model.BlockText, p.Type == model.BlockDocument && strings.HasPrefix(p.Media, "text/"):
		return string(p.Data), true
	case p.Type == model.BlockDocument && !c.files:
		return "[a document of type " + p.Media + ", " + strconv.Itoa(len(p.Data)) + " bytes, which this model can't be shown]", true
	}
	return "", false
}

func (c *conversation) appendPart(b []byte, p model.Part) []byte {
	if t, ok := c.asText(p); ok {
		b = append(b, `{"type":"text","text":`...)
		return append(raw.AppendString(b, t), '}')
	}
	end := `"}}`
	if p.Type == model.BlockImage {
		b = append(b, `{"type":"image_url","image_url":{"url":"data:`...)
	} else {
		b = append(b, `{"type":"file","file":{"filename":"document","file_data":"data:`...)
	}
	media := raw.AppendString(nil, p.Media)
	b = append(b, media[1:len(media)-1]...)
	b = append(b, `;base64,`...)
	b = base64.StdEncoding.AppendEncode(b, p.Data)
	return append(b, end...)
}

func (c *conversation) message(head string, rest []byte) {
	if len(c.out) > 0 {
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, head...)
	c.out = append(c.out, rest...)
	c.out = append(c.out, '}')
}

// appendCall renders a tool call; arguments is a JSON string.
func appendCall(b []byte, id, name string, arguments []byte) []byte {
	b = append(b, `{"id":`...)
	b = raw.AppendString(b, id)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = raw.AppendString(b, name)
	b = append(b, `,"arguments":`...)
	b = append(b, arguments...)
	return append(b, `}}`...)
}

func quoteInput(input []byte) []byte {
	if blank(string(input)) {
		input = []byte("{}")
	}
	return raw.AppendString(nil, string(input))
}

// appendReasoning puts a thinking block's text back under the name that the server used.
func appendReasoning(b, block []byte) []byte {
	for _, k := range raw.Keys(block) {
		if k != "type" {
			b = append(b, ',')
			b = raw.AppendString(b, k)
			b = append(b, ':')
			b = append(b, raw.Get(block, k)...)
		}
	}
	return b
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
