package output

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/live"
	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/view"
)

// claude writes the lines that programs written for Claude Code's stream-json read: system/init, assistant, user
// (tool results) and one result at the end. docs/stream-json.md says what differs.
type claude struct {
	silent
	enc     *json.Encoder
	session string
	calls   live.Calls
	usage   model.Usage // of the run
	cost    int64       // nano-USD of the run, as far as known
	steps   int
	asked   int64 // ms UTC of the model call under way
	apiMS   int64
}

func newClaude(enc *json.Encoder) *claude {
	return &claude{enc: enc}
}

type object = map[string]any

// line writes one line. Its id is the same whenever the same thing is told.
func (c *claude) line(name string, l object) {
	l["session_id"] = c.session
	l["uuid"] = uuid.NewSHA1(uuid.NameSpaceURL, []byte("perdure:"+c.session+":"+name)).String()
	_ = c.enc.Encode(l)
}

func (c *claude) Opened(st *session.State, _ bool, _ func(int64) string) {
	c.session = st.ID
	if st.Turn != nil {
		for _, call := range st.Turn.Calls {
			c.calls.Open(call.ID, call.Tool, call.ToolUse, call.Input)
		}
	}
	c.line(fmt.Sprint("init:", st.Head.Seq), object{
		"type": "system", "subtype": "init", "cwd": st.Cwd, "tools": toolNames(st.Agent.Tools), "mcp_servers": []any{},
		"model": st.Agent.Model, "permissionMode": st.Config.Mode, "slash_commands": []any{}, "apiKeySource": "none",
		"output_style": "default", "agents": []any{}, "claude_code_version": "perdure " + homes.Version,
	})
}

func (c *claude) Observe(u engine.Update) {
	if u.Event == nil {
		return
	}
	c.calls.See(u.Body, u.Event.Time)
	switch b := u.Body.(type) {
	case *session.ModelRequested:
		c.asked = u.Event.Time
	case *session.ModelResponded:
		c.responded(u, b)
	case *session.Compacted:
		trigger := "auto"
		if b.Reason == session.CompactAsked {
			trigger = "manual"
		}
		c.line(fmt.Sprint(u.Event.Seq), object{
			"type": "system", "subtype": "compact_boundary", "compact_metadata": object{"trigger": trigger, "pre_tokens": b.TokensBefore},
		})
	case *session.ToolFinished:
		c.finished(u, b.Act, b.Content, b.Outcome != session.OutcomeOK)
	case *session.ToolUnknown:
		c.finished(u, b.Act, b.Content, true)
	default:
	}
}

func (c *claude) responded(u engine.Update, b *session.ModelResponded) {
	meter.Add(&c.usage, b.Usage)
	c.apiMS += max(0, u.Event.Time-c.asked)
	if b.Cost != nil {
		c.cost += *b.Cost
	}
	if session.ForSummary(b.Act) {
		return
	}
	c.steps++
	content := []any{}
	for _, bl := range b.Blocks {
		if v := claudeBlock(bl); v != nil {
			content = append(content, v)
		}
	}
	_, name, _ := strings.Cut(b.Model, "/")
	c.line(fmt.Sprint(u.Event.Seq), object{
		"type": "assistant", "parent_tool_use_id": nil, "message": object{
			"id": b.Response, "type": "message", "role": "assistant", "model": name, "content": content,
			"stop_reason": b.Stop, "stop_sequence": nil, "usage": claudeUsage(b.Usage),
		},
	})
}

func claudeBlock(bl session.SealedBlock) any {
	switch bl.Type {
	case model.BlockText:
		return object{"type": "text", "text": string(bl.Shown)}
	case model.BlockToolUse:
		return object{"type": "tool_use", "id": bl.ID, "name": bl.Name, "input": homes.JSONValue(bl.Input)}
	case model.BlockThinking, model.BlockOther, model.BlockToolResult, model.BlockImage, model.BlockDocument:
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(bl.Raw, &kind) == nil && kind.Type != "" {
		return json.RawMessage(bl.Raw)
	}
	return nil
}

func claudeUsage(u model.Usage) object {
	return object{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
	}
}

func (c *claude) finished(u engine.Update, act string, parts []model.Part, isError bool) {
	c.line(fmt.Sprint(u.Event.Seq), object{
		"type": "user", "parent_tool_use_id": nil, "message": object{"role": "user", "content": []any{object{
			"type": "tool_result", "tool_use_id": c.calls.Of(act).Use, "content": claudeContent(parts), "is_error": isError,
		}}},
	})
}

// claudeContent is a text where there is nothing else, else blocks.
func claudeContent(parts []model.Part) any {
	blocks := []any{}
	for _, p := range parts {
		if p.Type == model.BlockText {
			blocks = append(blocks, object{"type": "text", "text": string(p.Data)})
			continue
		}
		blocks = append(blocks, object{"type": p.Type, "source": object{"type": "base64", "media_type": p.Media, "data": p.Data}})
	}
	for _, p := range parts {
		if p.Type != model.BlockText {
			return blocks
		}
	}
	return model.Text(parts)
}

func (c *claude) Result(r *view.Result) {
	c.session = r.SessionID
	subtype, isError := claudeOutcome(r)
	denials := []any{}
	for _, w := range r.Waiting {
		_, act, _ := strings.Cut(w.ID, ":")
		denials = append(denials, object{"tool_name": w.Tool, "tool_use_id": c.calls.Of(act).Use, "tool_input": w.Input})
	}
	l := object{
		"type": "result", "subtype": subtype, "is_error": isError, "duration_ms": r.DurationMS, "duration_api_ms": c.apiMS,
		"num_turns": c.steps, "result": r.Result, "stop_reason": r.StopReason, "total_cost_usd": float64(c.cost) / 1e9,
		"usage": claudeUsage(c.usage), "permission_denials": denials,
	}
	if isError {
		l["errors"] = []string{strings.TrimSpace(r.StopReason + " " + r.Message)}
	}
	c.line(fmt.Sprintf("result:%d:%s:%d", r.Turn, r.StopReason, c.steps), l)
}

// claudeOutcome gives a stop reason its name there. A turn that waits for a human is an error: there, nothing waits.
func claudeOutcome(r *view.Result) (subtype string, isError bool) {
	switch r.StopReason {
	case session.TurnEndTurn, session.TurnNone:
		return "success", false
	case session.TurnMaxSteps:
		return "error_max_turns", true
	case session.TurnMaxBudget:
		return "error_max_budget_usd", true
	}
	return "error_during_execution", true
}
