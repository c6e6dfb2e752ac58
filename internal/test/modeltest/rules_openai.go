package modeltest

import (
	"strconv"
	"strings"
)

// checkOpenAIParams checks everything but the messages. Unknown fields are
// allowed: compatible servers differ in them.
func checkOpenAIParams(body []byte, r *ParsedRequest) *refusal {
	if r.Model == "" {
		return refuse(RuleModel, "you must provide a model parameter")
	}
	if field(body, "stream_options") != nil && !r.call.stream {
		return refuse(RuleStreamOptions, "stream_options is only allowed when stream is enabled")
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		raw := field(body, key)
		if n, err := strconv.ParseInt(string(raw), 10, 64); raw != nil && (err != nil || n < 1) {
			return refuse(RuleMaxTokens, "%s: %s is no whole number of at least 1", key, clip(raw))
		}
	}
	return checkTools(r.Tools, func(t []byte) (string, []byte) {
		fn := field(t, "function")
		name, _ := stringField(fn, "name")
		if typ, _ := stringField(t, "type"); typ != "function" {
			return "", nil
		}
		schema := field(fn, "parameters")
		if schema == nil {
			schema = []byte("{}") // a function without parameters may leave them out
		}
		return name, schema
	})
}

// checkOpenAIMessages checks each message alone.
func checkOpenAIMessages(r *ParsedRequest) *refusal {
	if len(r.Messages) == 0 {
		return refuse(RuleEmptyContent, "messages: at least one message is required")
	}
	begun := false
	for i, m := range r.Messages {
		switch m.Role {
		case "system", "developer":
		case "user":
			begun = true
		case "assistant", "tool":
			if !begun {
				return refuse(RuleFirstUser, "messages.%d: %s before the first user message", i, m.Role)
			}
		default:
			return refuse(RuleRole, "messages.%d: unexpected role %q", i, m.Role)
		}
		if len(m.Blocks) == 0 {
			return refuse(RuleEmptyContent, "messages.%d: neither content nor tool calls", i)
		}
		for _, b := range m.Blocks {
			if b.Type == "tool_use" && m.Role != "assistant" {
				return refuse(RuleBlockType, "messages.%d: tool_calls in a %s message", i, m.Role)
			}
			if b.Type == "tool_use" && b.ID == "" {
				return refuse(RuleToolIDSyntax, "messages.%d: tool call without id", i)
			}
			// An assistant's own blank text is compared with what was sent instead.
			if b.Type == "text" && m.Role != "assistant" && strings.TrimSpace(b.Text) == "" {
				return refuse(RuleEmptyText, "messages.%d: %s text is blank", i, m.Role)
			}
		}
	}
	if !begun {
		return refuse(RuleFirstUser, "messages: no user message")
	}
	return nil
}
