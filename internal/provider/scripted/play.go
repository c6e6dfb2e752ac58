package scripted

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/internal/provider/toolid"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// position is the step that a conversation has come to.
type position struct {
	step  Step
	spoke int // assistant messages in the whole conversation
}

// find looks for the newest prompt that a turn matches.
func (s Script) find(r modelapi.Request) (position, error) {
	ms, since, spoke := r.Messages, 0, 0
	if r.Act == "title" {
		if s.Title == nil {
			return position{}, refuse("the script has no title")
		}
		return position{step: *s.Title}, nil
	}
	if r.NoTools {
		if s.Summary != nil {
			return position{step: *s.Summary}, nil
		}
		return position{step: Step{Text: fmt.Sprintf("A summary of %d messages.", len(ms))}}, nil
	}
	for _, m := range ms {
		if m.Role == model.RoleAssistant {
			spoke++
		}
	}
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == model.RoleAssistant {
			since++
			continue
		}
		for j := len(ms[i].Blocks) - 1; j >= 0; j-- {
			b := ms[i].Blocks[j]
			for _, t := range s.Turns {
				if b.Type != model.BlockText || t.Match == "" || !strings.Contains(b.Text, t.Match) {
					continue
				}
				if step, ok := compactedStep(r); ok {
					since = step
				}
				return t.at(since, spoke)
			}
		}
	}
	for _, t := range s.Turns {
		if t.Match == "" {
			return t.at(spoke, spoke)
		}
	}
	return position{}, refuse("the script has no turn for this conversation")
}

// compactedStep is the step that a request of a compacted conversation is for, from 0.
func compactedStep(r modelapi.Request) (step int, ok bool) {
	if len(r.Messages) == 0 || len(r.Messages[0].Blocks) < 2 || !strings.Contains(r.Messages[0].Blocks[0].Text, "was compacted") {
		return 0, false
	}
	var turn int
	if n, _ := fmt.Sscanf(r.Act, "t%d.s%d.", &turn, &step); n != 2 {
		return 0, false
	}
	return step - 1, true
}

func (t Turn) at(n, spoke int) (position, error) {
	if n >= len(t.Steps) {
		return position{}, refuse("the script's turn %q has no step %d", t.Match, n+1)
	}
	return position{step: t.Steps[n], spoke: spoke}, nil
}

// failure is what strikes this attempt, nil for nothing.
func (p position) failure(act string) *Failure {
	if n := attempt(act); n >= 1 && n <= len(p.step.Fail) {
		return &p.step.Fail[n-1]
	}
	return nil
}

// response makes the blocks. Ids of tool calls come from the position in the conversation.
func (p position) response(r modelapi.Request) (*modelapi.Response, error) {
	out := &modelapi.Response{ID: fmt.Sprintf("scripted_%d", p.spoke), Model: Name, Stop: p.step.Stop}
	if p.step.Thinking != "" {
		b := raw.AppendString([]byte(`{"type":"thinking","thinking":`), p.step.Thinking)
		out.Blocks = append(out.Blocks, model.Block{
			Type: model.BlockThinking, Raw: append(b, '}'), Provider: Name, Text: p.step.Thinking,
		})
	}
	if p.step.Text != "" {
		text, err := fill(p.step.Text, r.Messages, func(s string) string { return s })
		if err != nil {
			return nil, err
		}
		b := raw.AppendString([]byte(`{"type":"text","text":`), text)
		out.Blocks = append(out.Blocks, model.Block{
			Type: model.BlockText, Raw: append(b, '}'), Provider: Name, Text: text,
		})
	}
	used := toolid.InHistory(r.Messages)
	for i, t := range p.step.Tools {
		id := used.Claim("scripted_"+strconv.Itoa(p.spoke)+"_"+strconv.Itoa(i), r.Act, i, toolid.Fit)
		b, err := t.block(id, r.Messages)
		if err != nil {
			return nil, err
		}
		out.Blocks = append(out.Blocks, b)
	}
	if out.Stop == "" {
		out.Stop = modelapi.StopEndTurn
		if len(p.step.Tools) > 0 {
			out.Stop = modelapi.StopToolUse
		}
	}
	out.Usage.Input = tokens(len(appendRequest(nil, r)))
	for _, b := range out.Blocks {
		out.Usage.Output += tokens(len(b.Raw))
	}
	return out, nil
}

func (t ToolCall) block(id string, ms []model.Message) (model.Block, error) {
	input := "{}"
	if len(t.Input) > 0 {
		// The script's bytes are JSON, so what is filled in has to be escaped as a part of a string.
		filled, err := fill(string(t.Input), ms, func(s string) string {
			inner, _ := raw.Inner(raw.AppendString(nil, s))
			return string(inner)
		})
		if err != nil {
			return model.Block{}, err
		}
		input = filled
	}
	if !json.Valid([]byte(input)) {
		return model.Block{}, refuse("the input of %s is no JSON: %s", t.Name, input)
	}
	b := raw.AppendString([]byte(`{"type":"tool_use","id":`), id)
	b = raw.AppendString(append(b, `,"name":`...), t.Name)
	b = append(append(append(b, `,"input":`...), input...), '}')
	return model.Block{
		Type: model.BlockToolUse, Raw: b, Provider: Name,
		Tool: &model.ToolUse{ID: id, Name: t.Name, Input: []byte(input)},
	}, nil
}

const opening, closing = "{{result:", "}}"

// fill replaces each {{result:PATTERN}}.
func fill(s string, ms []model.Message, escape func(string) string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, opening)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		pattern, after, closed := strings.Cut(rest, closing)
		if !closed {
			return "", refuse("%s without %s", opening, closing)
		}
		if escape(`"`) != `"` {
			pattern, _ = raw.String(raw.Quote([]byte(pattern)))
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return "", refuse("%v", err)
		}
		v, ok := newest(re, ms)
		if !ok {
			return "", refuse("no tool result holds %s", pattern)
		}
		out.WriteString(escape(v))
		s = after
	}
}

// newest searches the tool results from the last one on.
func newest(re *regexp.Regexp, ms []model.Message) (string, bool) {
	for i := len(ms) - 1; i >= 0; i-- {
		for j := len(ms[i].Blocks) - 1; j >= 0; j-- {
			b := ms[i].Blocks[j]
			if b.Type != model.BlockToolResult || b.Result == nil {
				continue
			}
			if m := re.FindStringSubmatch(model.Text(b.Result.Content)); len(m) > 1 {
				return m[1], true
			} else if m != nil {
				return m[0], true
			}
		}
	}
	return "", false
}

// deltaSize is about how many bytes a delta shows.
const deltaSize = 24

// deltas cuts the blocks into what a stream would show.
func deltas(blocks []model.Block) []modelapi.Delta {
	var out []modelapi.Delta
	for _, b := range blocks {
		d := modelapi.Delta{Kind: modelapi.DeltaText}
		text := b.Text
		if b.Type == model.BlockThinking {
			d.Kind = modelapi.DeltaThinking
		}
		if b.Tool != nil {
			d.Kind, text = modelapi.DeltaTool, string(b.Tool.Input)
			out = append(out, modelapi.Delta{Kind: modelapi.DeltaTool, Tool: b.Tool.Name, ID: b.Tool.ID})
		}
		for text != "" {
			n := min(deltaSize, len(text))
			for n < len(text) && text[n]&0xC0 == 0x80 {
				n++
			}
			d.Text, text = text[:n], text[n:]
			out = append(out, d)
		}
	}
	return out
}

// appendRequest writes a request down, each part with its length, so that no two requests look the same.
func appendRequest(b []byte, r modelapi.Request) []byte {
	part := func(s []byte) {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(append(b, ':'), s...)
	}
	part([]byte(r.System))
	part(r.Tools)
	for _, m := range r.Messages {
		part([]byte(m.Role))
		for _, bl := range m.Blocks {
			part([]byte(bl.Type))
			switch {
			case bl.Provider == Name && len(bl.Raw) > 0:
				part(bl.Raw)
			case bl.Tool != nil:
				part([]byte(bl.Tool.ID))
				part([]byte(bl.Tool.Name))
				part(bl.Tool.Input)
			case bl.Result != nil:
				part([]byte(bl.Result.ID))
				part(strconv.AppendBool(nil, bl.Result.IsError))
				for _, p := range bl.Result.Content {
					part([]byte(p.Type))
					part([]byte(p.Media))
					part(p.Data)
				}
			default:
				part([]byte(bl.Text))
				part([]byte(bl.Media))
				part(bl.Data)
			}
		}
	}
	return b
}

func tokens(n int) int64 { return int64(n+3) / 4 }

func refuse(format string, args ...any) error {
	return &modelapi.Error{Class: modelapi.ClassInvalid, Message: fmt.Sprintf(format, args...)}
}
