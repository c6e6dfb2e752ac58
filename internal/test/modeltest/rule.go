package modeltest

import "fmt"

// A Rule is the name of something that a request must obey.
type Rule string

// The rules. Rules gives each one's sentence.
const (
	RulePath             Rule = "path"
	RuleJSON             Rule = "json"
	RuleVersion          Rule = "version"
	RuleAuth             Rule = "auth"
	RuleModel            Rule = "model"
	RuleMaxTokens        Rule = "max_tokens"
	RuleUnknownField     Rule = "unknown_field"
	RuleRemovedParameter Rule = "removed_parameter"
	RuleStreamOptions    Rule = "stream_options"
	RuleToolDefinition   Rule = "tool_definition"
	RuleCacheMarkers     Rule = "cache_markers"

	RuleRole            Rule = "role"
	RuleFirstUser       Rule = "first_user"
	RulePrefill         Rule = "prefill"
	RuleEmptyContent    Rule = "empty_content"
	RuleEmptyText       Rule = "empty_text"
	RuleBlockType       Rule = "block_type"
	RuleToolIDSyntax    Rule = "tool_id_syntax"
	RuleToolIDUnique    Rule = "tool_id_unique"
	RuleToolInputObject Rule = "tool_input_object"

	RuleToolResultMissing    Rule = "tool_result_missing"
	RuleToolResultFirst      Rule = "tool_result_first"
	RuleToolResultOrphan     Rule = "tool_result_orphan"
	RuleToolResultDuplicate  Rule = "tool_result_duplicate"
	RuleToolResultErrorEmpty Rule = "tool_result_error_empty"

	RulePrefixSystem      Rule = "prefix_system"
	RulePrefixTools       Rule = "prefix_tools"
	RulePrefixMessage     Rule = "prefix_message"
	RuleAssistantUnsealed Rule = "assistant_unsealed"
	RuleAssistantChanged  Rule = "assistant_changed"
	RuleAssistantBytes    Rule = "assistant_bytes"
	RuleThinkingVerbatim  Rule = "thinking_verbatim"
	RuleThinkingToggled   Rule = "thinking_toggled"
	RuleToolInputVerbatim Rule = "tool_input_verbatim"
	RuleToolUseIncomplete Rule = "tool_use_incomplete"
	RuleRefusalFedBack    Rule = "refusal_fed_back"

	RuleScript Rule = "script"
	RuleLimit  Rule = "limit"
)

// A RuleDoc is a rule with the sentence that states it.
type RuleDoc struct {
	Rule     Rule
	Sentence string
}

// Rules returns every rule with its sentence, in the order in which the groups
// are checked. The slice is the caller's.
func Rules() []RuleDoc {
	return []RuleDoc{
		{RulePath, "the path and method are served"},
		{RuleJSON, "the body is application/json, one valid object, without repeated keys"},
		{RuleVersion, "anthropic-version is a version that exists"},
		{RuleAuth, "the key is sent, and is the configured one"},
		{RuleModel, "a model is named"},
		{RuleMaxTokens, "max_tokens is a whole number of at least 1 and above the thinking budget"},
		{RuleUnknownField, "the request and its blocks carry no fields that the API does not know"},
		{RuleRemovedParameter, "parameters removed from this API version are not sent"},
		{RuleStreamOptions, "stream_options goes with stream: true only"},
		{RuleToolDefinition, "tools have unique, well-formed names and an object as schema"},
		{RuleCacheMarkers, "at most 4 cache markers, well formed, and none on a thinking block"},
		{RuleRole, "each message has a role of the API"},
		{RuleFirstUser, "the first message is the user's"},
		{RulePrefill, "the last message is not the assistant's, but after pause_turn"},
		{RuleEmptyContent, "no message is without content"},
		{RuleEmptyText, "no text block is empty or blank"},
		{RuleBlockType, "each block has a type that its role may use, and that type's fields"},
		{RuleToolIDSyntax, "tool call ids are not empty and hold letters, digits, _ and - only"},
		{RuleToolIDUnique, "a tool call id stands once in the history"},
		{RuleToolInputObject, "tool input is an object"},
		{RuleToolResultMissing, "each tool call is answered in the very next message"},
		{RuleToolResultFirst, "tool results stand before all other blocks"},
		{RuleToolResultOrphan, "each tool result answers a call of the message just before"},
		{RuleToolResultDuplicate, "a tool call is answered once"},
		{RuleToolResultErrorEmpty, "a result with is_error has content"},
		{RulePrefixSystem, "the system prompt is byte-identical to the one earlier answers were made for"},
		{RulePrefixTools, "the tools are byte-identical to those earlier answers were made for"},
		{RulePrefixMessage, "each message before a sealed answer is byte-identical to when it was made"},
		{RuleAssistantUnsealed, "an assistant message was sent by this server, to its end"},
		{RuleAssistantChanged, "an assistant message has the blocks that were sent, in order"},
		{RuleAssistantBytes, "an assistant message keeps the bytes in which it was first returned"},
		{RuleThinkingVerbatim, "thinking comes back verbatim, in order, with its signature"},
		{RuleThinkingToggled, "the thinking setting does not change inside a tool loop"},
		{RuleToolInputVerbatim, "tool input comes back byte for byte"},
		{RuleToolUseIncomplete, "a tool call cut by max_tokens is not sent back"},
		{RuleRefusalFedBack, "a refusal is not sent back"},
		{RuleScript, "the script has a step for this request"},
		{RuleLimit, "the request stays within the server's bounds"},
	}
}

// A Violation is one refused request.
type Violation struct {
	Rule   Rule   `json:"rule"`
	API    string `json:"api"`
	Key    string `json:"key"` // the conversation, when it was known
	Detail string `json:"detail"`
}

// String renders the violation on one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s (conversation %q)", v.API, v.Rule, v.Detail, v.Key)
}

// A refusal is a violation on its way to the response writer.
type refusal struct {
	rule   Rule
	status int
	detail string
}

func refuse(rule Rule, format string, args ...any) *refusal {
	return &refusal{rule: rule, status: 400, detail: fmt.Sprintf(format, args...)}
}

func (r *refusal) Error() string { return "rule " + string(r.rule) + ": " + r.detail }
