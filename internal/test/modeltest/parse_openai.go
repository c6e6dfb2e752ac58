package modeltest

import (
	"bytes"
	"strconv"
)

// parseOpenAI reads a Chat Completions request into the same shape as the other
// API, so that one set of history rules serves both.
func parseOpenAI(body []byte) (*ParsedRequest, *refusal) {
	if bad := checkObject(body, "request"); bad != nil {
		return nil, bad
	}
	r := &ParsedRequest{API: OpenAI}
	for _, m := range members(body) {
		switch m.key {
		case "model":
			r.Model, _ = stringField(body, "model")
		case "stream":
			r.call.stream = string(m.value) == "true"
		case "stream_options":
			r.call.includeUsage = string(field(m.value, "include_usage")) == "true"
		case "max_tokens", "max_completion_tokens":
			r.call.maxTokens, _ = strconv.ParseInt(string(m.value), 10, 64)
		case "tools":
			r.Tools = bytes.Clone(m.value)
		}
	}
	for i, raw := range elements(field(body, "messages")) {
		m, bad := readChatMessage(raw)
		if bad != nil {
			bad.detail = "messages." + strconv.Itoa(i) + ": " + bad.detail
			return nil, bad
		}
		r.Messages = append(r.Messages, m)
	}
	return r, nil
}

// chatFields are the fields that a message of each role may carry.
func chatFields(role string) []string {
	switch role {
	case "assistant":
		return []string{"role", "content", "tool_calls", "refusal", "name", "reasoning_content"}
	case "tool":
		return []string{"role", "content", "tool_call_id"}
	}
	return []string{"role", "content", "name"}
}

func readChatMessage(raw []byte) (Message, *refusal) {
	if bad := checkObject(raw, "message"); bad != nil {
		return Message{}, bad
	}
	m := Message{Raw: bytes.Clone(raw)}
	m.Role, _ = stringField(raw, "role")
	known := chatFields(m.Role)
	for _, f := range members(raw) {
		if !contains(known, f.key) {
			return Message{}, refuse(RuleUnknownField, "%s message: unknown field %s", m.Role, f.key)
		}
	}
	if m.Role == "tool" {
		id, _ := stringField(raw, "tool_call_id")
		m.Blocks = []Block{{Type: "tool_result", ID: id, Text: resultText(field(raw, "content")), Raw: m.Raw}}
		return m, nil
	}
	if text, ok := stringField(raw, "reasoning_content"); ok && text != "" {
		m.Blocks = append(m.Blocks, Block{Type: "thinking", Text: text, Raw: field(raw, "reasoning_content")})
	}
	blocks, bad := readChatContent(m.Role, field(raw, "content"))
	if bad != nil {
		return Message{}, bad
	}
	m.Blocks = append(m.Blocks, blocks...)
	for _, c := range elements(field(raw, "tool_calls")) {
		b, bad := readChatCall(c)
		if bad != nil {
			return Message{}, bad
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m, nil
}

func readChatContent(role string, content []byte) ([]Block, *refusal) {
	if len(content) == 0 || string(content) == "null" {
		return nil, nil
	}
	if content[0] == '"' {
		text := decodeString(content)
		if text == "" && role == "assistant" {
			return nil, nil // an empty string means "none" beside tool calls
		}
		return []Block{{Type: "text", Text: text, Raw: content}}, nil
	}
	var out []Block
	for _, e := range elements(content) {
		typ, _ := stringField(e, "type")
		text, isText := stringField(e, "text")
		if typ == "" || (typ == "text" && !isText) {
			return nil, refuse(RuleBlockType, "content part lacks type or text: %s", clip(e))
		}
		out = append(out, Block{Type: typ, Text: text, Raw: e})
	}
	return out, nil
}

func readChatCall(raw []byte) (Block, *refusal) {
	b := Block{Type: "tool_use", Raw: raw}
	b.ID, _ = stringField(raw, "id")
	fn := field(raw, "function")
	b.Name, _ = stringField(fn, "name")
	args, ok := stringField(fn, "arguments")
	if typ, _ := stringField(raw, "type"); typ != "function" || b.Name == "" || !ok {
		return Block{}, refuse(RuleBlockType, "tool call lacks type, name or an arguments string: %s", clip(raw))
	}
	b.Input = []byte(args)
	return b, nil
}
