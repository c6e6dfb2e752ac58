package session

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// ModelCall is one step's call of the model. Retries are attempts of it: they send the same request and nothing
// newer.
type ModelCall struct {
	ID        string              `json:"id"` // act id of the newest attempt
	Attempt   int                 `json:"attempt"`
	Failures  int                 `json:"failures"`         // attempts in a row that failed, interruptions apart
	Broken    int                 `json:"broken,omitempty"` // those of them that broke off after the API had begun to answer
	Since     int64               `json:"since,omitempty"`  // ms UTC of the first of them
	Status    ModelStatus         `json:"status"`
	Epoch     int64               `json:"epoch"`
	Through   int64               `json:"through_seq"` // the request holds events up to here
	Prefix    store.Digest        `json:"prefix"`
	MaxTokens int64               `json:"max_tokens"`
	Estimate  int64               `json:"estimate"` // tokens of the request, estimated before it was sent
	Fresh     int64               `json:"fresh"`    // bytes of [Context].Fresh that the request holds
	RetryAt   int64               `json:"retry_at,omitempty"`
	Stop      modelapi.StopReason `json:"stop,omitempty"`
	HTTP      int                 `json:"http_status,omitempty"` // of the newest failure, as Class and Message
	Class     string              `json:"class,omitempty"`
	Message   string              `json:"message,omitempty"`
}

// ModelStatus is where a model call stands.
type ModelStatus string

// The states of a model call.
const (
	CallRequested ModelStatus = "requested"
	CallResponded ModelStatus = "responded"
	CallFailed    ModelStatus = "failed" // RetryAt is when the next attempt is due; 0: when the session is resumed
	CallLost      ModelStatus = "lost"   // interrupted before it was sealed; the same request goes again
)

// Context sizes the conversation.
type Context struct {
	Tokens int64 `json:"tokens"` // of the newest sealed call: request and reply
	Fresh  int64 `json:"fresh"`  // bytes of content since then
	// Prefix is the hash of the newest request; see [ModelRequested].
	Prefix store.Digest `json:"prefix"`
	// Replies are the sealed replies in the conversation.
	Replies int `json:"replies,omitempty"`
	// Ranges are where the conversation is in the session's own log; see [State.Conversation].
	Ranges []Range `json:"ranges"`
}

// Estimate is how many tokens the next request takes: what the provider counted last, and a token for every three
// bytes since, with the frozen prefix counted by bytes as long as nothing was counted.
func (s *State) Estimate() int64 {
	n := s.Context.Tokens + s.Context.Fresh/3
	if s.Context.Tokens == 0 {
		n += int64(len(s.Agent.System)+len(s.Agent.Tools)) / 3
	}
	return n + 1
}

// sized takes the provider's count of a sealed call over. What arrived while it was answered was not in the request
// and stays fresh. A server that counts nothing leaves the count to the bytes.
func (c *Context) sized(m *ModelCall, b *ModelResponded) {
	if n := meter.Window(b.Usage); n > 0 {
		c.Tokens, c.Fresh = n, max(0, c.Fresh-m.Fresh)
		return
	}
	for _, bl := range b.Blocks {
		c.Fresh += int64(len(bl.Raw))
	}
}

// ModelUse is one model's usage in this log.
type ModelUse struct {
	Model    string      `json:"model"` // provider/model
	Usage    model.Usage `json:"usage"`
	Calls    int64       `json:"calls"`
	Lost     int64       `json:"lost_calls"`
	Cost     int64       `json:"cost"`     // nano-USD of the calls whose price is known
	Unpriced int64       `json:"unpriced"` // calls whose price is unknown
}

func (s *State) use(model string) *ModelUse {
	for i := range s.Usage {
		if s.Usage[i].Model == model {
			return &s.Usage[i]
		}
	}
	s.Usage = append(s.Usage, ModelUse{Model: model})
	return &s.Usage[len(s.Usage)-1]
}

// Total sums the usage of all models.
func (s *State) Total() (u model.Usage) {
	for _, m := range s.Usage {
		meter.Add(&u, m.Usage)
	}
	return u
}

// ModelRequested opens an attempt: it fixes what is sent.
type ModelRequested struct {
	headOnly
	Act     string `json:"act"`
	Turn    int    `json:"turn"`
	Step    int    `json:"step"`
	Attempt int    `json:"attempt"`
	Epoch   int64  `json:"epoch"`
	Model   string `json:"model"` // provider/model
	// Through is the newest event that the request holds, so it is at least 1 and older than this one: what comes later
	// waits for the next request.
	Through   int64        `json:"through_seq"`
	Prefix    store.Digest `json:"prefix"`     // of system, tools and messages as sent, without cache markers
	MaxTokens int64        `json:"max_tokens"` // bound of the reply
	Estimate  int64        `json:"estimate"`   // tokens, see [State.Estimate]
	// Purpose is summary for a call that asks for the summary of a compaction, which Reason is for; empty for an ordinary
	// call.
	Purpose string `json:"purpose,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Rung    int    `json:"rung,omitempty"` // of the summary: how it is asked for
}

// PurposeSummary is the purpose of a call for a summary.
const PurposeSummary = "summary"

func (b *ModelRequested) summary() string {
	return fmt.Sprintf("%s  %s, about %d tokens", b.Act, b.Model, b.Estimate)
}

func (b *ModelRequested) apply(s *State, e store.Event) {
	t := s.Turn
	switch {
	case b.Purpose != "":
		s.requestSummary(b, e)
		return
	case t == nil || t.N != b.Turn:
		s.fault(e, "turn %d is not open", b.Turn)
		return
	case t.Model != nil && t.Model.Status == CallRequested:
		s.fault(e, "call %s is still outstanding", t.Model.ID)
		return
	case b.Epoch != s.Epoch:
		s.fault(e, "act %s is of epoch %d, the session is in %d", b.Act, b.Epoch, s.Epoch)
	case b.Through < 1 || b.Through >= e.Seq:
		s.fault(e, "act %s holds events through %d", b.Act, b.Through)
	}
	m := &ModelCall{
		ID: b.Act, Attempt: b.Attempt, Status: CallRequested, Epoch: b.Epoch, Through: b.Through,
		Prefix: b.Prefix, MaxTokens: b.MaxTokens, Estimate: b.Estimate, Fresh: s.Context.Fresh,
	}
	if t.Model != nil && t.Step == b.Step {
		m.follow(t.Model)
	}
	if t.Step != b.Step {
		s.leaveCalls(e, t)
	}
	t.Step, t.Model = b.Step, m
	s.Context.Prefix = b.Prefix
}

// leaveCalls remembers the step's tool calls when the turn goes on without them. All of them have their outcome.
func (s *State) leaveCalls(e store.Event, t *Turn) {
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.Settled() {
			s.fault(e, "act %s has no outcome", c.ID)
		}
		s.settle(c.Act())
	}
	t.Calls = nil
}

// ModelResponded seals a reply: the provider's bytes block by block.
type ModelResponded struct {
	Act      string              `json:"act"`
	Response string              `json:"response,omitempty"` // the API's id
	Model    string              `json:"model"`              // provider/model as asked for
	Provider string              `json:"provider"`
	Stop     modelapi.StopReason `json:"stop"`
	Usage    model.Usage         `json:"usage"`
	Cost     *int64              `json:"cost"` // nano-USD; null is unknown
	Blocks   []SealedBlock       `json:"blocks"`
}

// SealedBlock is one block of a sealed reply. Raw is the provider's bytes; Input is a tool call's arguments verbatim.
type SealedBlock struct {
	Type  model.BlockType `json:"type"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Text  bool            `json:"text,omitempty"` // Shown holds the readable text
	Raw   []byte          `json:"-"`
	Input []byte          `json:"-"` // only of tool calls
	Shown []byte          `json:"-"` // only of text
}

func (b *ModelResponded) summary() string {
	words := []string{b.Act + "  " + string(b.Stop) + " "}
	for _, bl := range b.Blocks {
		switch bl.Type {
		case model.BlockText:
			words = append(words, string(bl.Shown))
		case model.BlockToolUse:
			words = append(words, "→ "+bl.Name)
		case model.BlockThinking, model.BlockToolResult, model.BlockImage, model.BlockDocument, model.BlockOther:
		}
	}
	return strings.Join(words, " ")
}

func (b *ModelResponded) show(m map[string]any) { viewBlocks(m, b.Blocks) }

func (b *ModelResponded) parts() []*[]byte {
	out := make([]*[]byte, 0, 2*len(b.Blocks))
	for i := range b.Blocks {
		bl := &b.Blocks[i]
		out = append(out, &bl.Raw)
		switch bl.Type {
		case model.BlockToolUse:
			out = append(out, &bl.Input)
		case model.BlockText:
			out = append(out, &bl.Shown)
		case model.BlockThinking, model.BlockToolResult, model.BlockImage, model.BlockDocument, model.BlockOther:
		}
	}
	return out
}

func (b *ModelResponded) apply(s *State, e store.Event) {
	m := s.ModelCall(b.Act)
	if m == nil || m.Status != CallRequested {
		s.fault(e, "call %s is not outstanding", b.Act)
		return
	}
	s.charge(b)
	if s.summarizes(m) {
		s.Compaction.summarized(b, e)
		return
	}
	t := s.Turn
	m.answered(b.Stop)
	s.Context.sized(m, b)
	s.measure(m, b.Usage)
	if b.Stop == modelapi.StopRefusal {
		return
	}
	if len(b.Blocks) > 0 {
		s.Context.Replies++
	}
	for i, bl := range b.Blocks {
		if bl.Type == model.BlockToolUse {
			base := ActBase(t.N, t.Step, i+1)
			t.Calls = append(t.Calls, Call{
				ID: AttemptID(base, 1), Base: base, Attempt: 1, ToolUse: bl.ID, Tool: bl.Name,
				Input: append([]byte{}, bl.Input...), // on its own: the reply's bytes are not kept for it
				State: ActPlanned,
			})
		}
	}
}

// maxCost bounds what a session may have spent, in nano-USD: what a log claims beyond it must not become less than nothing.
const maxCost = 1 << 60

// charge counts what a sealed call took. A cost below nothing is no cost that is known: a log may come from elsewhere.
func (s *State) charge(b *ModelResponded) {
	var cost, unpriced int64
	if b.Cost == nil || *b.Cost < 0 {
		unpriced = 1
	} else {
		cost = min(*b.Cost, maxCost)
	}
	u := s.use(b.Model)
	u.Calls++
	meter.Add(&u.Usage, b.Usage)
	u.Cost = min(u.Cost+cost, maxCost)
	u.Unpriced += unpriced
	s.Spent = min(s.Spent+cost, maxCost)
	s.Unpriced += unpriced
	if t := s.Turn; t != nil {
		meter.Add(&t.Usage, b.Usage)
		t.Cost = min(t.Cost+cost, maxCost)
		t.Unpriced += unpriced
	}
}

// ModelFailed closes an attempt that the API or the network refused. It ends no turn; see [Failure].
type ModelFailed struct {
	headOnly
	Act     string `json:"act"`
	Model   string `json:"model"`
	Class   string `json:"class"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message"`
	Started bool   `json:"started,omitempty"`     // the API had begun to answer
	RetryAt int64  `json:"retry_at,omitempty"`    // ms UTC; 0: not until the session is resumed
	Until   int64  `json:"retry_until,omitempty"` // ms UTC; when it is given up
	DelayMS int64  `json:"delay_ms,omitempty"`    // jitter included
	Jitter  int64  `json:"jitter_ms,omitempty"`
	Lost    int64  `json:"lost_input_tokens,omitempty"`
}

func (b *ModelFailed) summary() string { return b.Act + "  " + b.Class + ": " + b.Message }

func (b *ModelFailed) apply(s *State, e store.Event) {
	m := s.loseModel(e, b.Act, b.Model, b.Lost)
	if m == nil {
		return
	}
	m.fail(b, e.Time)
	if s.summarizes(m) {
		s.Compaction.refused(b.Class)
	}
}

// ModelLost closes an attempt whose reply was never sealed: the agent died, or the call was cancelled. What had
// been streamed never enters the conversation; it is kept here for the eyes.
type ModelLost struct {
	Act    string `json:"act"`
	Model  string `json:"model"`
	Reason string `json:"reason"`
	Lost   int64  `json:"lost_input_tokens"` // as the stream's start said, else the estimate
	Text   []byte `json:"-"`                 // what had been streamed, as far as known
}

func (b *ModelLost) summary() string { return b.Act + "  " + b.Reason }

func (b *ModelLost) show(m map[string]any) { viewText(m, "text", b.Text) }

func (b *ModelLost) parts() []*[]byte { return []*[]byte{&b.Text} }

func (b *ModelLost) apply(s *State, e store.Event) {
	m := s.loseModel(e, b.Act, b.Model, b.Lost)
	if m == nil {
		return
	}
	m.Status = CallLost
	if s.summarizes(m) && s.Compaction.Cancelled {
		s.Compaction = nil
	}
}

// loseModel counts an outstanding model call that will not be sealed.
func (s *State) loseModel(e store.Event, act, model string, lost int64) *ModelCall {
	m := s.ModelCall(act)
	if m == nil || m.Status != CallRequested {
		s.fault(e, "call %s is not outstanding", act)
		return nil
	}
	if lost > 0 {
		u := s.use(model)
		u.Lost++
		u.Usage.LostInput += lost
		if s.Turn != nil {
			s.Turn.Usage.LostInput += lost
		}
	}
	return m
}
