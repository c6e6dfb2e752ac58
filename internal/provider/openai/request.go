package openai

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/modelapi"
)

// render makes a request's body.
func (p *Provider) render(r modelapi.Request) ([]byte, error) {
	if r.MaxTokens <= 0 {
		return nil, invalid("max tokens is %d", r.MaxTokens)
	}
	b := append(make([]byte, 0, 4096), `{"model":`...)
	b = raw.AppendString(b, r.Model)
	limit := "max_tokens"
	if p.own {
		limit = "max_completion_tokens"
	}
	b = append(b, `,"`+limit+`":`...)
	b = strconv.AppendInt(b, r.MaxTokens, 10)
	b = append(b, `,"stream":true,"stream_options":{"include_usage":true}`...)
	if effort := p.effort(r); effort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = raw.AppendString(b, effort)
	}
	if r.NoTools && len(raw.Elements(r.Tools)) > 0 {
		b = append(b, `,"tool_choice":"none"`...)
	}
	b, err := p.appendPrefix(b, r)
	if err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

func (p *Provider) effort(r modelapi.Request) string {
	if r.Params.Effort == "" && p.own && len(raw.Elements(r.Tools)) > 0 && refusesReasoningTools(r.Model) {
		return "none"
	}
	return r.Params.Effort
}

// refusesReasoningTools reports whether a model of OpenAI's takes tools over Chat Completions only with the reasoning
// effort "none" said aloud: GPT-5.6 and later.
func refusesReasoningTools(name string) bool {
	version, ok := strings.CutPrefix(name, "gpt-")
	if !ok {
		return false
	}
	version, _, _ = strings.Cut(version, "-")
	v, err := strconv.ParseFloat(version, 64)
	return err == nil && v >= 5.6
}

// appendPrefix appends ,"tools":…,"messages":….
func (p *Provider) appendPrefix(b []byte, r modelapi.Request) ([]byte, error) {
	if len(r.Tools) > 0 && !json.Valid(r.Tools) {
		return nil, invalid("tools are not valid JSON")
	}
	for i, t := range raw.Elements(r.Tools) {
		if i == 0 {
			b = append(b, `,"tools":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendTool(b, t)
	}
	if len(raw.Elements(r.Tools)) > 0 {
		b = append(b, ']')
	}
	c := conversation{name: p.cfg.Name, files: p.takesFiles(), reasoning: p.cfg.ReturnReasoning}
	if r.System != "" {
		c.message(`{"role":"system","content":`, raw.AppendString(nil, r.System))
	}
	for i, m := range r.Messages {
		if err := c.add(m); err != nil {
			return nil, invalid("message %d: %v", i, err)
		}
	}
	c.flush()
	if !c.spoken {
		return nil, invalid("the conversation does not begin with a user message")
	}
	b = append(b, `,"messages":[`...)
	b = append(b, c.out...)
	return append(b, ']'), nil
}

// appendTool takes a tool's values over as they are spelled.
func appendTool(b, tool []byte) []byte {
	b = append(b, `{"type":"function","function":{"name":`...)
	b = append(b, orElse(raw.Get(tool, "name"), `""`)...)
	if d := raw.Get(tool, "description"); d != nil {
		b = append(b, `,"description":`...)
		b = append(b, d...)
	}
	b = append(b, `,"parameters":`...)
	b = append(b, orElse(raw.Get(tool, "input_schema"), `{"type":"object","properties":{}}`)...)
	return append(b, `}}`...)
}

// takesFiles reports whether the server is known to take documents. Others get a line of text in their place.
func (p *Provider) takesFiles() bool {
	return p.own || strings.Contains(p.base, "//openrouter.ai/")
}

func orElse(v []byte, other string) []byte {
	if v == nil {
		return []byte(other)
	}
	return v
}

func invalid(format string, args ...any) error {
	return &modelapi.Error{Class: modelapi.ClassInvalid, Message: "request not sent: " + fmt.Sprintf(format, args...)}
}
