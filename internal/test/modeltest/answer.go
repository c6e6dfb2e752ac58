package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An answer is a step made concrete for one history: the blocks as they are
// sent, and as they must come back.
type answer struct {
	blocks []sentBlock
	stop   string
	usage  Usage
}

// A sentBlock is one block of an answer.
type sentBlock struct {
	Block
	freeID  bool // the client makes the id: none was sent, or a used one
	cut     bool // the input is incomplete; must not come back
	noBlank bool // blank text, which the API refuses to see again
}

// makeAnswer is a function of the history alone: signatures, ids and figures
// derive from the prefix hash and the step.
func makeAnswer(r *ParsedRequest, step Step, prefix chain) answer {
	a := answer{stop: step.StopReason, usage: step.Usage}
	if a.stop == "" {
		a.stop = "end_turn"
		if len(step.Tools) > 0 {
			a.stop = "tool_use"
		}
	}
	if step.Thinking != "" || step.SignedOnly {
		a.add(thinkingBlock(step.Thinking, prefix))
	}
	if step.Redacted != "" && r.API == Anthropic {
		raw := append([]byte(`{"type":"redacted_thinking","data":`), quote(step.Redacted)...)
		a.add(sentBlock{Block: Block{Type: "redacted_thinking", Text: step.Redacted, Raw: append(raw, '}')}})
	}
	if step.Text != "" {
		raw := append([]byte(`{"type":"text","text":`), quote(step.Text)...)
		b := sentBlock{Block: Block{Type: "text", Text: step.Text, Raw: append(raw, '}')}}
		b.noBlank = strings.TrimSpace(step.Text) == ""
		a.add(b)
	}
	if r.API == Anthropic {
		for _, e := range step.Extra {
			typ, _ := stringField(e, "type")
			a.add(sentBlock{Block: Block{Type: typ, Raw: e}})
		}
	}
	used := map[string]bool{}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			used[b.ID] = true
		}
	}
	for i, t := range step.Tools {
		b := toolBlock(r, t, i, prefix)
		b.freeID = t.NoID || used[b.ID]
		used[b.ID] = true
		a.add(b)
	}
	if a.usage == (Usage{}) {
		a.usage = estimate(r, a)
	}
	return a
}

func (a *answer) add(b sentBlock) { a.blocks = append(a.blocks, b) }

func thinkingBlock(text string, prefix chain) sentBlock {
	mac := prefix.add([]byte("signature"), []byte(text))
	second := mac.add(nil)
	sig := base64.StdEncoding.EncodeToString(append(mac[:], second[:]...))
	raw := append([]byte(`{"type":"thinking","thinking":`), quote(text)...)
	raw = append(raw, `,"signature":`...)
	raw = append(append(raw, quote(sig)...), '}')
	return sentBlock{Block: Block{Type: "thinking", Text: text, Signature: sig, Raw: raw}}
}

func toolBlock(r *ParsedRequest, t ToolCall, i int, prefix chain) sentBlock {
	b := sentBlock{Block: Block{Type: "tool_use", ID: t.ID, Name: t.Name, Input: t.bytes()}}
	if t.ID == "" {
		kind := "toolu_"
		if r.API == OpenAI {
			kind = "call_"
		}
		b.ID = kind + prefix.hex()[:12] + "_" + strconv.Itoa(i)
	}
	if t.NoID {
		b.ID = ""
	}
	if t.Cut > 0 && t.Cut < len(b.Input) {
		b.Input, b.cut = b.Input[:t.Cut], true
	}
	raw := append([]byte(`{"type":"tool_use","id":`), quote(b.ID)...)
	raw = append(append(raw, `,"name":`...), quote(t.Name)...)
	raw = append(append(raw, `,"input":`...), b.Input...)
	b.Raw = append(raw, '}')
	return b
}

// estimate makes figures that repeat for the same history.
func estimate(r *ParsedRequest, a answer) Usage {
	u := Usage{Input: 1 + int64(len(r.System)+len(r.Tools))/4, Output: 1}
	for _, m := range r.Messages {
		u.Input += int64(len(m.Raw))/4 + 1
	}
	for _, b := range a.blocks {
		u.Output += int64(len(b.Raw))/4 + 1
	}
	return u
}

// wireUsage is the usage that the API can express, which is what a client can
// know: the OpenAI API has no figure for cache writes.
func wireUsage(api string, u Usage) Usage {
	if api == OpenAI {
		u.Input, u.CacheWrite = u.Input+u.CacheWrite, 0
	}
	return u
}

// quote spells a string as JSON. It escapes <, > and & as encoding/json does by
// default, so that a client which re-encodes shows in a byte comparison.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return b
}

// fragments cuts s into several pieces at rune boundaries, as a JSON string can
// hold no half of a rune. The empty string gives none.
func fragments(s string) []string {
	size := max(5, len(s)/6)
	var out []string
	for len(s) > 0 {
		n := min(size, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
