package modeltest

import (
	"strconv"
	"strings"
)

// maxMarkers is the API's bound on cache markers in one request.
const maxMarkers = 4

// requestFields are the top-level fields of a Messages request.
func requestFields() []string {
	return []string{
		"model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream",
		"metadata", "stop_sequences", "thinking", "temperature", "top_k", "top_p", "service_tier",
		"container", "mcp_servers", "context_management", "output_config", "cache_control",
		"inference_geo", "speed", "thread",
	}
}

// checkAnthropicParams checks everything but the messages. Counting tokens needs
// no max_tokens.
func checkAnthropicParams(body []byte, r *ParsedRequest, version string, counting bool) *refusal {
	known := requestFields()
	for _, m := range members(body) {
		if !contains(known, m.key) {
			return refuse(RuleUnknownField, "%s: extra inputs are not permitted", m.key)
		}
		removed := m.key == "temperature" || m.key == "top_p" || m.key == "top_k"
		if removed && version != versionOld {
			return refuse(RuleRemovedParameter, "%s was removed in %s", m.key, version)
		}
	}
	if r.Model == "" {
		return refuse(RuleModel, "model: field required")
	}
	if !counting && r.call.maxTokens < 1 {
		return refuse(RuleMaxTokens, "max_tokens: %q is no whole number of at least 1", field(body, "max_tokens"))
	}
	if raw := field(r.call.thinking, "budget_tokens"); raw != nil && !counting {
		budget, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || budget < 1024 || budget >= r.call.maxTokens {
			return refuse(RuleMaxTokens, "thinking budget %s is below 1024 or not below max_tokens %d", raw, r.call.maxTokens)
		}
	}
	if r.call.markers > maxMarkers {
		return refuse(RuleCacheMarkers, "%d blocks with cache_control, at most %d", r.call.markers, maxMarkers)
	}
	for i, b := range elements(r.System) {
		if text, _ := stringField(b, "text"); strings.TrimSpace(text) == "" {
			return refuse(RuleEmptyText, "system.%d: text content blocks must be non-empty", i)
		}
	}
	return checkTools(r.Tools, func(t []byte) (string, []byte) {
		name, _ := stringField(t, "name")
		if typ, ok := stringField(t, "type"); ok && typ != "custom" {
			return name, []byte("{}") // a tool of the server's own has no schema
		}
		return name, field(t, "input_schema")
	})
}

// checkTools checks the definitions of either API.
func checkTools(tools []byte, read func([]byte) (name string, schema []byte)) *refusal {
	seen := map[string]bool{}
	for i, t := range elements(tools) {
		name, schema := read(t)
		if !validName(name) || seen[name] {
			return refuse(RuleToolDefinition, "tools.%d: name %q is malformed or repeated", i, name)
		}
		seen[name] = true
		if len(schema) == 0 || schema[0] != '{' {
			return refuse(RuleToolDefinition, "tools.%d: schema of %q is not an object", i, name)
		}
	}
	return nil
}

// checkAnthropicMessages checks each message alone; pairing.go checks them
// against each other.
func checkAnthropicMessages(r *ParsedRequest) *refusal {
	if len(r.Messages) == 0 {
		return refuse(RuleEmptyContent, "messages: at least one message is required")
	}
	for i, m := range r.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return refuse(RuleRole, "messages.%d: unexpected role %q", i, m.Role)
		}
		if i == 0 && m.Role != "user" {
			return refuse(RuleFirstUser, "messages: first message must use the user role")
		}
		if len(m.Blocks) == 0 {
			return refuse(RuleEmptyContent, "messages.%d: all messages must have non-empty content", i)
		}
		for j, b := range m.Blocks {
			if bad := checkBlock(m.Role, b); bad != nil {
				bad.detail = "messages." + strconv.Itoa(i) + ".content." + strconv.Itoa(j) + ": " + bad.detail
				return bad
			}
		}
	}
	return nil
}

func checkBlock(role string, b Block) *refusal {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return refuse(RuleEmptyText, "text content blocks must contain non-whitespace text")
		}
	case "tool_use":
		if role != "assistant" {
			return refuse(RuleBlockType, "tool_use blocks can only be in assistant messages")
		}
		if !validName(b.ID) {
			return refuse(RuleToolIDSyntax, "tool_use.id: %q", b.ID)
		}
		if b.Input[0] != '{' {
			return refuse(RuleToolInputObject, "tool_use.input: %s is not an object", clip(b.Input))
		}
	case "tool_result":
		if role != "user" {
			return refuse(RuleBlockType, "tool_result blocks can only be in user messages")
		}
		return checkResult(b)
	case "thinking", "redacted_thinking":
		if role != "assistant" {
			return refuse(RuleBlockType, "%s blocks can only be in assistant messages", b.Type)
		}
	case "image", "document":
		if role != "user" {
			return refuse(RuleBlockType, "%s blocks can only be in user messages", b.Type)
		}
	default:
		if role != "assistant" {
			return refuse(RuleBlockType, "unknown block type %q in a user message", b.Type)
		}
	}
	return nil
}

func checkResult(b Block) *refusal {
	content := field(b.Raw, "content")
	for _, e := range elements(content) {
		switch typ, _ := stringField(e, "type"); typ {
		case "text":
			if text, _ := stringField(e, "text"); text == "" {
				return refuse(RuleEmptyText, "tool_result: text content blocks must be non-empty")
			}
		case "image", "document", "search_result":
		default:
			return refuse(RuleBlockType, "tool_result.content: unknown block type %q", typ)
		}
	}
	if b.IsError && b.Text == "" && len(elements(content)) == 0 {
		return refuse(RuleToolResultErrorEmpty, "tool_result: content cannot be empty if is_error is true")
	}
	return nil
}

// validName is the syntax of tool names and tool call ids.
func validName(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
