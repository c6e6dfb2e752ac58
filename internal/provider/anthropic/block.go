package anthropic

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/internal/provider/toolid"
	"github.com/perdure/perdure/model"
)

// renderBlock renders one block, or nothing if it is not to be sent. The result may be the block's own bytes.
func renderBlock(role model.Role, bl model.Block) ([]byte, error) {
	if role == model.RoleAssistant {
		return renderAssistant(bl)
	}
	b := make([]byte, 0, blockSize(bl))
	switch bl.Type {
	case model.BlockText:
		return appendText(b, bl.Text), nil
	case model.BlockImage, model.BlockDocument:
		return appendMedia(b, bl.Type, bl.Media, bl.Data), nil
	case model.BlockToolResult:
		if bl.Result == nil {
			return nil, fmt.Errorf("a tool result without a result")
		}
		return appendResult(b, bl.Result), nil
	case model.BlockThinking, model.BlockToolUse, model.BlockOther:
	}
	return nil, fmt.Errorf("a user can't say a block of type %q", bl.Type)
}

// renderAssistant sends what this API made verbatim, and of others what can be said in its words.
func renderAssistant(bl model.Block) ([]byte, error) {
	own := bl.Provider == Name && len(bl.Raw) > 0
	switch {
	case own && bl.Type == model.BlockText && blank(bl.Text) && blank(raw.GetString(bl.Raw, "text")):
		return nil, nil
	case own:
		return bl.Raw, nil
	case bl.Type == model.BlockText:
		return appendText(nil, bl.Text), nil
	case bl.Type == model.BlockToolUse && bl.Tool != nil:
		return appendToolUse(nil, bl.Tool), nil
	case bl.Type == model.BlockToolUse:
		return nil, fmt.Errorf("a tool call without a tool")
	}
	return nil, nil
}

func appendText(b []byte, text string) []byte {
	if blank(text) {
		return b
	}
	b = append(b, `{"type":"text","text":`...)
	b = raw.AppendString(b, text)
	return append(b, '}')
}

// appendToolUse renders a call that another provider's model made. Its input must be an object here; what is none
// is wrapped, so that the history can still be sent.
func appendToolUse(b []byte, t *model.ToolUse) []byte {
	b = append(b, `{"type":"tool_use","id":`...)
	b = raw.AppendString(b, toolid.Portable(t.ID))
	b = append(b, `,"name":`...)
	b = raw.AppendString(b, t.Name)
	b = append(b, `,"input":`...)
	if raw.IsObject(t.Input) {
		b = append(b, t.Input...)
	} else {
		b = append(b, `{"invalid_json":`...)
		b = raw.AppendString(b, string(t.Input))
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendResult(b []byte, r *model.ToolResult) []byte {
	b = append(b, `{"type":"tool_result","tool_use_id":`...)
	b = raw.AppendString(b, toolid.Portable(r.ID))
	if r.IsError {
		b = append(b, `,"is_error":true`...)
	}
	var content []byte
	for _, p := range r.Content {
		before := len(content)
		if before > 0 {
			content = append(content, ',')
		}
		start := len(content)
		if p.Type == model.BlockText {
			content = appendText(content, string(p.Data))
		} else {
			content = appendMedia(content, p.Type, p.Media, p.Data)
		}
		if len(content) == start {
			content = content[:before]
		}
	}
	if len(content) == 0 && r.IsError {
		// The API refuses an error that says nothing.
		content = appendText(content, "failed without a message")
	}
	if len(content) > 0 {
		b = append(b, `,"content":[`...)
		b = append(b, content...)
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendMedia renders an image or a document. A document of text goes as text.
func appendMedia(b []byte, t model.BlockType, media string, data []byte) []byte {
	kind := "image"
	if t != model.BlockImage {
		kind = "document"
	}
	b = append(b, `{"type":"`...)
	b = append(b, kind...)
	if kind == "document" && strings.HasPrefix(media, "text/") {
		b = append(b, `","source":{"type":"text","media_type":"text/plain","data":`...)
		b = raw.AppendString(b, string(data))
		return append(b, `}}`...)
	}
	b = append(b, `","source":{"type":"base64","media_type":`...)
	b = raw.AppendString(b, media)
	b = append(b, `,"data":"`...)
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, `"}}`...)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// view makes the thin view of a block that the API made. It takes raw as it is.
func view(b []byte) model.Block {
	bl := model.Block{Type: model.BlockOther, Raw: b, Provider: Name}
	switch raw.GetString(b, "type") {
	case "text":
		bl.Type, bl.Text = model.BlockText, raw.GetString(b, "text")
	case "thinking":
		bl.Type, bl.Text = model.BlockThinking, raw.GetString(b, "thinking")
	case "redacted_thinking":
		bl.Type = model.BlockThinking
	case "tool_use":
		bl.Type = model.BlockToolUse
		bl.Tool = &model.ToolUse{
			ID: raw.GetString(b, "id"), Name: raw.GetString(b, "name"), Input: raw.Get(b, "input"),
		}
	}
	return bl
}
