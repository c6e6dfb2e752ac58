package modeltest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// The names of the two APIs, as reports and violations spell them.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// A ParsedRequest is what Config.Respond decides on. It holds the history and
// nothing that differs between two attempts, so that answers repeat.
type ParsedRequest struct {
	API   string
	Key   string // the conversation: a script's first text, or the whole first user text
	Step  int    // the number of assistant messages in the history
	Model string
	// System and Tools are as sent, cache markers removed; nil when absent. The
	// OpenAI API has its system prompt among the messages.
	System, Tools json.RawMessage
	Messages      []Message
	// PrefixHash is the hash of system, tools and messages, cache markers removed.
	PrefixHash string

	call call
}

// call is the rest of a request: what does not belong to the history.
type call struct {
	stream       bool
	includeUsage bool
	maxTokens    int64
	thinking     []byte // the thinking parameter as sent
	markers      int
}

// A Message is one message of the history.
type Message struct {
	Role   string
	Raw    json.RawMessage // as sent, cache markers removed
	Blocks []Block
}

// A Block is one content block. The OpenAI API's tool calls and tool messages
// appear as tool_use and tool_result blocks too.
type Block struct {
	Type      string // text, thinking, redacted_thinking, tool_use, tool_result, …
	Text      string // of text and thinking blocks, and of a result's text
	Signature string
	ID        string // of the call, also on its result
	Name      string
	Input     []byte // as spelled
	IsError   bool
	Raw       json.RawMessage
}

// Text returns the text blocks of the message, joined by newlines.
func (m Message) Text() string {
	var parts []string
	for _, b := range m.Blocks {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Last returns the newest message.
func (r *ParsedRequest) Last() Message {
	if len(r.Messages) == 0 {
		return Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// Results returns the tool results after the newest assistant message.
func (r *ParsedRequest) Results() []Block {
	var out []Block
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			out = out[:0]
		}
		for _, b := range m.Blocks {
			if b.Type == "tool_result" {
				out = append(out, b)
			}
		}
	}
	return out
}

// firstUserText names the conversation.
func (r *ParsedRequest) firstUserText() string {
	for _, m := range r.Messages {
		if m.Role == "user" {
			return m.Text()
		}
	}
	return ""
}

func isThinking(b Block) bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// A chain is a rolling hash over parts that are length-prefixed, so that no two
// lists of parts share one.
type chain [sha256.Size]byte

func (c chain) add(parts ...[]byte) chain {
	h := sha256.New()
	h.Write(c[:])
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	copy(c[:], h.Sum(nil))
	return c
}

func (c chain) hex() string { return hex.EncodeToString(c[:]) }

// start is the chain before the first message. An absent part differs from null.
func (r *ParsedRequest) start() chain { return chain{}.add(r.System, r.Tools) }

// addBare extends the chain by a message without its thinking, which may be
// dropped after a change of model; thinking is compared on its own.
func (c chain) addBare(m Message) chain {
	if m.Role != "assistant" {
		return c.add(m.Raw)
	}
	parts := [][]byte{[]byte(m.Role)}
	for _, b := range m.Blocks {
		if !isThinking(b) {
			parts = append(parts, b.Raw)
		}
	}
	return c.add(parts...)
}

// finish fills what follows from the messages.
func (r *ParsedRequest) finish(find func(string) (Conversation, bool)) {
	whole := r.start()
	for _, m := range r.Messages {
		whole = whole.add(m.Raw)
		if m.Role == "assistant" {
			r.Step++
		}
	}
	r.PrefixHash = whole.hex()
	r.Key = r.firstUserText()
	if c, ok := find(r.Key); ok {
		r.Key = c.First
	}
}
