package modeltest

import (
	"bytes"
	"strconv"
)

// parseAnthropic reads a Messages request. It checks only what it needs to be
// able to read on; the rules of rules_anthropic.go do the rest.
func parseAnthropic(body []byte) (*ParsedRequest, *refusal) {
	if bad := checkObject(body, "request"); bad != nil {
		return nil, bad
	}
	r := &ParsedRequest{API: Anthropic}
	s := stripper{}
	for _, m := range members(body) {
		switch m.key {
		case "model":
			r.Model, _ = stringField(body, "model")
		case "stream":
			r.call.stream = string(m.value) == "true"
		case "max_tokens":
			r.call.maxTokens, _ = strconv.ParseInt(string(m.value), 10, 64)
		case "thinking":
			r.call.thinking = m.value
		case "system":
			r.System = mapElements(m.value, s.block)
		case "tools":
			r.Tools = mapElements(m.value, s.block)
		case "cache_control":
			s.mark(m.value)
		}
	}
	for i, raw := range elements(field(body, "messages")) {
		m, bad := s.message(i, raw)
		if bad != nil {
			return nil, bad
		}
		r.Messages = append(r.Messages, m)
	}
	r.call.markers = s.markers
	if s.bad != nil {
		return nil, s.bad
	}
	return r, nil
}

// A stripper removes cache markers where the API knows them, and counts them.
// A cache_control key inside tool input is data and stays.
type stripper struct {
	markers int
	bad     *refusal
}

func (s *stripper) mark(value []byte) {
	s.markers++
	if typ, _ := stringField(value, "type"); typ != "ephemeral" && string(value) != "null" {
		s.bad = refuse(RuleCacheMarkers, "cache_control %s has an unknown type", clip(value))
	}
}

func (s *stripper) block(raw []byte) []byte {
	typ, _ := stringField(raw, "type")
	for _, m := range members(raw) {
		if m.key == "cache_control" {
			s.mark(m.value)
			if typ == "thinking" || typ == "redacted_thinking" {
				s.bad = refuse(RuleCacheMarkers, "%s blocks cannot be marked", typ)
			}
		}
	}
	raw = removeMember(raw, "cache_control")
	if typ == "tool_result" {
		raw = replaceMember(raw, "content", mapElements(field(raw, "content"), s.block))
	}
	return raw
}

func (s *stripper) message(i int, raw []byte) (Message, *refusal) {
	if bad := checkObject(raw, "messages."+strconv.Itoa(i)); bad != nil {
		return Message{}, bad
	}
	for _, m := range members(raw) {
		if m.key != "role" && m.key != "content" {
			return Message{}, refuse(RuleUnknownField, "messages.%d.%s: extra inputs are not permitted", i, m.key)
		}
	}
	content := field(raw, "content")
	raw = replaceMember(raw, "content", mapElements(content, s.block))
	m := Message{Raw: bytes.Clone(raw)}
	m.Role, _ = stringField(raw, "role")
	if len(content) > 0 && content[0] == '"' {
		m.Blocks = []Block{{Type: "text", Text: decodeString(content), Raw: bytes.Clone(content)}}
		return m, nil
	}
	for j, e := range elements(field(m.Raw, "content")) {
		b, bad := readBlock(e)
		if bad != nil {
			bad.detail = "messages." + strconv.Itoa(i) + ".content." + strconv.Itoa(j) + ": " + bad.detail
			return Message{}, bad
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m, nil
}

// blockFields are the fields that each known block type may carry.
func blockFields(typ string) ([]string, bool) {
	switch typ {
	case "text":
		return []string{"type", "text", "citations"}, true
	case "thinking":
		return []string{"type", "thinking", "signature"}, true
	case "redacted_thinking":
		return []string{"type", "data"}, true
	case "tool_use":
		return []string{"type", "id", "name", "input", "caller"}, true
	case "tool_result":
		return []string{"type", "tool_use_id", "content", "is_error"}, true
	case "image", "document":
		return []string{"type", "source", "title", "context", "citations"}, true
	}
	return nil, false
}

// readBlock reads one content block whose cache marker is already removed.
func readBlock(raw []byte) (Block, *refusal) {
	if bad := checkObject(raw, "block"); bad != nil {
		return Block{}, bad
	}
	b := Block{Raw: raw}
	b.Type, _ = stringField(raw, "type")
	if known, ok := blockFields(b.Type); ok {
		for _, m := range members(raw) {
			if !contains(known, m.key) {
				return Block{}, refuse(RuleUnknownField, "%s.%s: extra inputs are not permitted", b.Type, m.key)
			}
		}
	}
	var ok bool
	switch b.Type {
	case "text":
		b.Text, ok = stringField(raw, "text")
	case "thinking":
		b.Text, ok = stringField(raw, "thinking")
		b.Signature, _ = stringField(raw, "signature")
		ok = ok && field(raw, "signature") != nil
	case "redacted_thinking":
		b.Text, ok = stringField(raw, "data")
	case "tool_use":
		b.ID, ok = stringField(raw, "id")
		b.Name, _ = stringField(raw, "name")
		b.Input = field(raw, "input")
		ok = ok && b.Name != "" && b.Input != nil
	case "tool_result":
		b.ID, ok = stringField(raw, "tool_use_id")
		b.Text = resultText(field(raw, "content"))
		b.IsError = string(field(raw, "is_error")) == "true"
	default:
		ok = b.Type != ""
	}
	if !ok {
		return Block{}, refuse(RuleBlockType, "%q block lacks a required field: %s", b.Type, clip(raw))
	}
	return b, nil
}

func resultText(content []byte) string {
	if len(content) > 0 && content[0] == '"' {
		return decodeString(content)
	}
	var text string
	for _, e := range elements(content) {
		t, _ := stringField(e, "text")
		text += t
	}
	return text
}

// checkObject refuses what is no object, and an object with a repeated key,
// of which two readers may see different halves.
func checkObject(raw []byte, what string) *refusal {
	ms := members(raw)
	if ms == nil && string(bytes.TrimSpace(raw)) != "{}" {
		return refuse(RuleJSON, "%s is not an object: %s", what, clip(raw))
	}
	seen := make(map[string]bool, len(ms))
	for _, m := range ms {
		if seen[m.key] {
			return refuse(RuleJSON, "%s repeats the key %q", what, m.key)
		}
		seen[m.key] = true
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// clip shortens bytes for a message to a human.
func clip(b []byte) string {
	const most = 120
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
