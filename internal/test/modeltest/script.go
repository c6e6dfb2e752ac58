package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A Script says what the server answers. It is read-only once a Server has it.
type Script struct {
	Conversations []Conversation `json:"conversations"`
}

// A Conversation is the script of one conversation.
type Conversation struct {
	// First is the text of the first user message. A message that merely
	// contains it matches too, the longest one that does first, so that a
	// client may surround its prompt.
	First string `json:"first"`
	// Steps are the answers by the number of assistant messages in the history.
	Steps []Step `json:"steps"`
}

// A Step is one answer. Its blocks are sent in the order of the fields. A step
// without any block is an answer with empty content, which models do give.
type Step struct {
	Thinking string `json:"thinking,omitempty"`
	// SignedOnly sends a thinking block with a signature and no text.
	SignedOnly bool `json:"signed_only,omitempty"`
	// Redacted is the data of a redacted_thinking block; Anthropic only.
	Redacted string `json:"redacted,omitempty"`
	Text     string `json:"text,omitempty"`
	// Extra are further blocks, sent as they are; Anthropic only.
	Extra []json.RawMessage `json:"extra,omitempty"`
	Tools []ToolCall        `json:"tools,omitempty"`
	// StopReason is Anthropic's word; the other API gets its own for it. Empty
	// means tool_use if there are tools, else end_turn.
	StopReason string `json:"stop_reason,omitempty"`
	// Usage of the call; all zero means figures made from the sizes.
	Usage Usage `json:"usage,omitzero"`
	// Faults[i] strikes attempt i+1 of this step; later attempts succeed.
	Faults []Fault `json:"faults,omitempty"`
}

// A ToolCall is one call in an answer.
type ToolCall struct {
	// ID is made from the history when empty.
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	// Input is sent byte for byte; empty means {}. It need not be compact. For
	// the OpenAI API it need not even be JSON when InputText holds it.
	Input json.RawMessage `json:"input,omitempty"`
	// InputText replaces Input, and keeps bytes that a script file as JSON
	// cannot hold in Input, such as whitespace or broken JSON.
	InputText string `json:"input_text,omitempty"`
	// NoID sends the call without an id; the client must make one.
	NoID bool `json:"no_id,omitempty"`
	// Cut sends only that many bytes of the input, as max_tokens does. The
	// client must not send the call back. Zero sends all.
	Cut int `json:"cut,omitempty"`
}

// Usage counts tokens; the four are disjoint.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	return u
}

// ErrScript is wrapped by every error about a script.
var ErrScript = errors.New("bad script")

// LoadScript reads a script from a JSON file and checks it.
func LoadScript(file string) (Script, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Script{}, fmt.Errorf("load script: %w", err)
	}
	var s Script
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("load script %s: %w: %w", file, ErrScript, err)
	}
	if err := s.validate(); err != nil {
		return Script{}, fmt.Errorf("load script %s: %w", file, err)
	}
	return s, nil
}

func (s Script) validate() error {
	seen := map[string]bool{}
	for _, c := range s.Conversations {
		if c.First == "" || seen[c.First] {
			return fmt.Errorf("%w: first user text %q is empty or repeated", ErrScript, c.First)
		}
		seen[c.First] = true
		for i, step := range c.Steps {
			if err := step.validate(); err != nil {
				return fmt.Errorf("%w: conversation %q step %d: %w", ErrScript, c.First, i, err)
			}
		}
	}
	return nil
}

func (s Step) validate() error {
	for i, t := range s.Tools {
		if t.Name == "" {
			return fmt.Errorf("tool %d has no name", i)
		}
		if len(t.Input) > 0 && !json.Valid(t.Input) {
			return fmt.Errorf("tool %d: input is not JSON; use input_text", i)
		}
		if t.Cut < 0 || t.Cut > len(t.bytes()) {
			return fmt.Errorf("tool %d: cut %d is outside the input", i, t.Cut)
		}
	}
	for i, e := range s.Extra {
		if typ, _ := stringField(e, "type"); !json.Valid(e) || typ == "" {
			return fmt.Errorf("extra block %d is not an object with a type", i)
		}
	}
	for i, f := range s.Faults {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i, err)
		}
	}
	return nil
}

// bytes returns the input as it is sent.
func (t ToolCall) bytes() []byte {
	switch {
	case t.InputText != "":
		return []byte(t.InputText)
	case len(t.Input) > 0:
		return t.Input
	}
	return []byte("{}")
}

// find returns the conversation for the text of a first user message.
func (s Script) find(text string) (Conversation, bool) {
	var best Conversation
	for _, c := range s.Conversations {
		if c.First == text {
			return c, true
		}
		if strings.Contains(text, c.First) && len(c.First) > len(best.First) {
			best = c
		}
	}
	return best, best.First != ""
}

// Save writes the script as a file for LoadScript. Tool inputs keep their bytes,
// which encoding/json alone would compact.
func (s Script) Save(file string) error {
	out := Script{Conversations: make([]Conversation, len(s.Conversations))}
	for i, c := range s.Conversations {
		c.Steps = append([]Step(nil), c.Steps...)
		for j := range c.Steps {
			tools := append([]ToolCall(nil), c.Steps[j].Tools...)
			for k, t := range tools {
				tools[k].InputText, tools[k].Input = string(t.bytes()), nil
			}
			c.Steps[j].Tools = tools
		}
		out.Conversations[i] = c
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("save script %s: %w", file, err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return fmt.Errorf("save script: %w", err)
	}
	return nil
}
