// Package modelapi is the contract of a model API, for those of one's own: one call in, one sealed response out.
//
// A [Provider] turns a [Request] into exact bytes, sends them once, and returns the response with each block's raw
// bytes. It never retries: every attempt is an event of the session's log, and the engine decides about the next
// one. The same Request gives the same bytes in every process, so that a request after a crash equals the one before.
//
// Duties of an implementation: keep a streamed block's bytes as assembled once (text joined, tool arguments the
// fragments' bytes verbatim, unknown fields kept); send blocks of its own back verbatim; render blocks of another
// provider from their thin view and leave out its thinking; drop a tool call that the output limit cut off; replace
// missing or repeated tool call ids by ones derived from Request.Act.
package modelapi

import (
	"context"
	"fmt"
	"time"

	"github.com/perdure/perdure/model"
)

// Provider speaks one model API. It is safe for concurrent use.
type Provider interface {
	// Name is the provider's name in MODEL arguments, as in "anthropic".
	Name() string
	// Prefix is a digest of what the provider would send for system, tools and messages, without cache markers. Which
	// one is the provider's affair (SHA-256, BLAKE3): it is logged with each call, to be compared.
	Prefix(r Request) ([32]byte, error)
	// Call sends the request once and returns when the response is complete. It passes what it reads to sink as it
	// comes, only to be shown; sink may be nil. An error is a *Error, or ctx's error when ctx ended.
	Call(ctx context.Context, r Request, sink func(Delta)) (*Response, error)
}

// Counter is implemented by providers that can count a request's tokens exactly before sending it.
type Counter interface {
	CountTokens(ctx context.Context, r Request) (int64, error)
}

// Request is one model call. Nothing in it may be changed by the provider.
type Request struct {
	Act       string          // act id, for derived ids
	Model     string          // without the provider's name
	System    string          // frozen for the session
	Tools     []byte          // JSON array of {name, description, input_schema}; frozen for the session
	Messages  []model.Message // begins with a user message; roles may repeat
	MaxTokens int64           // bound of the reply, thinking included
	NoTools   bool            // the reply is to be text: the tools are listed, since calls of them are in the messages, and none is called
	Params    Params
}

// Params are frozen when the session is opened.
type Params struct {
	APIVersion string   `json:"api_version,omitempty"`
	Betas      []string `json:"betas,omitempty"`
	Thinking   int64    `json:"thinking_tokens,omitempty"` // budget; 0 leaves it to the model's default
	Effort     string   `json:"effort,omitempty"`          // how hard to think, in the API's words; empty is its default
}

// Response is a complete reply. It may hold tool calls whatever Stop says, and each of them must be answered; a
// refusal (Stop) is the exception, it is never fed back.
type Response struct {
	ID     string
	Model  string        // as the API names it
	Blocks []model.Block // in order, Raw set
	Stop   StopReason
	Usage  model.Usage // disjoint counts
	// Unmetered says that the API sent no counts: Usage is zero because it is unknown. Estimate it to budget it.
	Unmetered bool
}

// Delta is something to show while a call runs.
type Delta struct {
	Kind  DeltaKind
	Text  string      // text, thinking, or tool argument fragment
	Tool  string      // tool name, at a tool block's start; on every delta where the blocks' deltas are mixed
	ID    string      // and the provider's id of the call; empty if it has none yet
	Usage model.Usage // at the start: what the API says the request took
}

// DeltaKind says what a delta is.
type DeltaKind string

// The kinds of deltas.
const (
	DeltaStart    DeltaKind = "start" // Usage is set if the API sends it
	DeltaText     DeltaKind = "text"
	DeltaThinking DeltaKind = "thinking"
	DeltaTool     DeltaKind = "tool"
)

// Class groups failures by what can be done about them.
type Class string

// The classes of failures.
const (
	ClassTimeout    Class = "timeout"     // 408, or nothing came for too long
	ClassRateLimit  Class = "rate_limit"  // 429
	ClassServer     Class = "server"      // 5xx, overloaded
	ClassDisconnect Class = "disconnect"  // the connection broke before the reply was complete
	ClassProtocol   Class = "protocol"    // the reply was not understood
	ClassAuth       Class = "auth"        // 401, 403
	ClassInvalid    Class = "invalid"     // other 4xx: the same request would fail again
	ClassNotFound   Class = "not_found"   // unknown model or endpoint
	ClassContext    Class = "context"     // the request is larger than the model's window
	ClassUnreached  Class = "unreachable" // no connection was made
)

// Error is a failed call.
type Error struct {
	Class      Class
	Status     int           // HTTP status, 0 if none
	Message    string        // the API's words, or ours
	RequestID  string        // the API's id of the request
	RetryAfter time.Duration // what the API asked for; 0 if nothing
	Started    bool          // the API had begun a reply: Usage is what it said the request took, zero if it said nothing
	Usage      model.Usage   // of the request; Output is 0
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model call failed (%s, status %d): %s", e.Class, e.Status, e.Message)
	}
	return fmt.Sprintf("model call failed (%s): %s", e.Class, e.Message)
}

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Class {
	case ClassTimeout, ClassRateLimit, ClassServer, ClassDisconnect, ClassProtocol, ClassUnreached:
		return true
	case ClassAuth, ClassInvalid, ClassNotFound, ClassContext:
	}
	return false
}

// StopReason says why a model call ended, normalised over providers.
type StopReason string

// The stop reasons of a model call.
const (
	StopEndTurn   StopReason = "end_turn"
	StopToolUse   StopReason = "tool_use"
	StopMaxTokens StopReason = "max_tokens"
	StopPause     StopReason = "pause_turn" // send the reply back as it is and continue
	StopRefusal   StopReason = "refusal"    // the reply is not fed back
	StopContext   StopReason = "context_limit"
)
