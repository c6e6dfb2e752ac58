package anthropic

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

const marker = `"cache_control":{"type":"ephemeral"}`

// markedMessages is how many of the newest user messages carry a marker: the newest, to write the cache there, and
// the one before, to find what the last request wrote even when the newest holds many blocks.
const markedMessages = 2

// render makes a request's body; call is false for counting its tokens.
func render(r modelapi.Request, call bool) ([]byte, error) {
	ms, err := turns(r.Messages)
	if err != nil {
		return nil, err
	}
	if len(r.Tools) > 0 && !json.Valid(r.Tools) {
		return nil, invalid("tools are not valid JSON")
	}
	b := make([]byte, 0, size(r)+4096)
	b = append(b, `{"model":`...)
	b = raw.AppendString(b, r.Model)
	limit := r.MaxTokens
	if budget := r.Params.Thinking; budget > 0 && takesBudget(r.Model) && limit <= budget {
		limit += budget
	}
	if call {
		if r.MaxTokens <= 0 {
			return nil, invalid("max tokens is %d", r.MaxTokens)
		}
		b = append(b, `,"max_tokens":`...)
		b = strconv.AppendInt(b, limit, 10)
		b = append(b, `,"stream":true`...)
	}
	b = appendThinking(b, r)
	if call && r.NoTools && len(raw.Elements(r.Tools)) > 0 {
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	}
	b = appendPrefix(b, r, ms, true)
	return append(b, '}'), nil
}

func appendThinking(b []byte, r modelapi.Request) []byte {
	switch budget := r.Params.Thinking; {
	case budget > 0 && takesBudget(r.Model):
		b = append(b, `,"thinking":{"type":"enabled","budget_tokens":`...)
		b = strconv.AppendInt(b, budget, 10)
		b = append(b, '}')
	case budget > 0:
		b = append(b, `,"thinking":{"type":"adaptive"}`...)
	}
	if r.Params.Effort != "" {
		b = append(b, `,"output_config":{"effort":`...)
		b = raw.AppendString(b, r.Params.Effort)
		b = append(b, '}')
	}
	return b
}

// prefix is what the API compares: system, tools and messages, without markers.
func prefix(r modelapi.Request) ([]byte, error) {
	ms, err := turns(r.Messages)
	if err != nil {
		return nil, err
	}
	return appendPrefix(make([]byte, 0, size(r)+4096), r, ms, false), nil
}

// appendPrefix appends ,"system":…,"tools":…,"messages":… and, if marked, the cache markers.
func appendPrefix(b []byte, r modelapi.Request, ms []turn, marked bool) []byte {
	if r.System != "" {
		b = append(b, `,"system":[{"type":"text","text":`...)
		b = raw.AppendString(b, r.System)
		if marked {
			b = append(append(b, ','), marker...)
		}
		b = append(b, `}]`...)
	}
	if tools := raw.Elements(r.Tools); len(tools) > 0 {
		b = append(b, `,"tools":`...)
		if marked && len(raw.Get(tools[len(tools)-1], "cache_control")) == 0 {
			b = append(b, raw.SetInLast(r.Tools, "cache_control", []byte(`{"type":"ephemeral"}`))...)
		} else {
			b = append(b, r.Tools...)
		}
	}
	b = append(b, `,"messages":[`...)
	from := 0
	if marked {
		from = lastUsers(ms, markedMessages)
	}
	for i, m := range ms {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.append(b, marked && i >= from && m.role == model.RoleUser)
	}
	return append(b, ']')
}

// lastUsers returns the index of the nth user message from the end, or of the first one.
func lastUsers(ms []turn, n int) int {
	i := len(ms)
	for ; i > 0 && n > 0; i-- {
		if ms[i-1].role == model.RoleUser {
			n--
		}
	}
	return i
}

// turn is one message as it is sent: all that a user says in a row, tool results first, or one reply.
type turn struct {
	role    model.Role
	results [][]byte
	rest    [][]byte
}

func (t turn) append(b []byte, marked bool) []byte {
	b = append(b, `{"role":"`...)
	b = append(b, t.role...)
	b = append(b, `","content":[`...)
	n := len(t.results) + len(t.rest)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		bl := t.at(i)
		if marked && i == n-1 {
			b = append(b, bl[:len(bl)-1]...)
			b = append(append(b, ','), marker...)
			b = append(b, '}')
			continue
		}
		b = append(b, bl...)
	}
	return append(b, `]}`...)
}

func (t turn) at(i int) []byte {
	if i < len(t.results) {
		return t.results[i]
	}
	return t.rest[i-len(t.results)]
}

// turns renders the blocks and merges user messages in a row. A message that holds nothing to send is left out, and
// its neighbours are merged. Replies in a row, as after pause_turn, stay apart: the API takes them so, and a message
// that was sent once keeps its bytes.
func turns(ms []model.Message) ([]turn, error) {
	var out []turn
	for i, m := range ms {
		if m.Role != model.RoleUser && m.Role != model.RoleAssistant {
			return nil, invalid("message %d has the role %q", i, m.Role)
		}
		fresh := m.Role == model.RoleAssistant
		for j, bl := range m.Blocks {
			b, err := renderBlock(m.Role, bl)
			if err != nil {
				return nil, invalid("message %d block %d: %v", i, j, err)
			}
			if len(b) == 0 {
				continue
			}
			if len(out) == 0 || out[len(out)-1].role != m.Role || fresh {
				out = append(out, turn{role: m.Role})
				fresh = false
			}
			t := &out[len(out)-1]
			if bl.Type == model.BlockToolResult && m.Role == model.RoleUser {
				t.results = append(t.results, b)
			} else {
				t.rest = append(t.rest, b)
			}
		}
	}
	if len(out) == 0 || out[0].role != model.RoleUser {
		return nil, invalid("the conversation does not begin with a user message")
	}
	return out, nil
}

// size estimates a request's bytes.
func size(r modelapi.Request) int {
	n := len(r.System) + len(r.Tools)
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			n += blockSize(b)
		}
	}
	return n + n/16
}

func blockSize(b model.Block) int {
	n := len(b.Raw) + len(b.Text) + len(b.Data)*4/3 + 128
	if b.Tool != nil {
		n += len(b.Tool.Input)
	}
	if b.Result != nil {
		for _, p := range b.Result.Content {
			n += len(p.Data)*4/3 + 128
		}
	}
	return n
}

func invalid(format string, args ...any) error {
	return &modelapi.Error{Class: modelapi.ClassInvalid, Message: "request not sent: " + fmt.Sprintf(format, args...)}
}
