package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Turn is one prompt until its stop reason.
type Turn struct {
	N        int          `json:"n"`
	Message  int64        `json:"message"` // seq of the prompt
	Started  int64        `json:"started"` // ms UTC
	Step     int          `json:"step"`    // newest step, from 1
	StepBase int          `json:"step_base"`
	Cancel   *store.Actor `json:"cancel,omitempty"` // who asked to end the turn
	Model    *ModelCall   `json:"model,omitempty"`  // the newest step's model call
	Calls    []Call       `json:"calls,omitempty"`  // the newest step's tool calls, in block order
	Usage    model.Usage  `json:"usage"`
	Cost     int64        `json:"cost"`     // nano-USD
	Unpriced int64        `json:"unpriced"` // sealed calls of unknown price
}

// TurnEnd says how a turn ended.
type TurnEnd struct {
	N        int         `json:"n"`
	Stop     string      `json:"stop"`
	Message  string      `json:"message,omitempty"`
	Steps    int         `json:"steps"`
	Usage    model.Usage `json:"usage"`
	Cost     int64       `json:"cost"`
	Unpriced int64       `json:"unpriced"`
	Prompt   int64       `json:"prompt"` // seq of its message
	Seq      int64       `json:"seq"`
}

// The stop reasons of a turn beyond those of a model call, and of what leaves a turn open.
const (
	TurnEndTurn         = "end_turn"
	TurnMaxSteps        = "max_steps"
	TurnMaxBudget       = "max_budget"
	TurnWaitingApproval = "waiting_approval"
	TurnWaitingAnswer   = "waiting_answer"
	TurnCancelled       = "cancelled"
	TurnParked          = "parked"
	TurnRefusal         = "refusal"
	TurnContextLimit    = "context_limit"
	TurnError           = "error"
	TurnNone            = "none"
)

// Queued is a message that waits for its turn.
type Queued struct {
	Seq  int64  `json:"seq"`
	Key  string `json:"key,omitempty"`
	Size int64  `json:"size"` // bytes of content
}

// MessageReceived brings a message into the session. A note is no prompt: it goes to the model with the next one.
type MessageReceived struct {
	Key     string       `json:"key,omitempty"` // idempotency key of the inbox, if it came that way
	Note    bool         `json:"note,omitempty"`
	Content []model.Part `json:"content"`
	// Changed are the files of which the note tells that they are not as the session knows them.
	Changed []FileChange `json:"changed,omitempty"`
}

func (b *MessageReceived) summary() string { return model.Text(b.Content) }

func (b *MessageReceived) show(m map[string]any) { viewParts(m, b.Content) }

func (b *MessageReceived) parts() []*[]byte { return partData(b.Content) }

func partData(ps []model.Part) []*[]byte {
	out := make([]*[]byte, len(ps))
	for i := range ps {
		out[i] = &ps[i].Data
	}
	return out
}

// imageSize is what an image counts at most, in bytes of text: APIs scale images down to some 1,600 tokens.
const imageSize = 4800

// ContentSize is how many bytes content counts in a model's window.
func ContentSize(ps []model.Part) (n int64) {
	for _, p := range ps {
		size := int64(len(p.Data))
		if p.Type == model.BlockImage {
			size = min(size, imageSize)
		}
		n += size
	}
	return n
}

// Accepts reports whether one more message may wait for its turn; at most 1,024 do.
func (s *State) Accepts() bool { return len(s.Queue) < maxQueue }

func (b *MessageReceived) apply(s *State, e store.Event) {
	size := ContentSize(b.Content)
	for _, c := range b.Changed {
		s.told(c)
	}
	if b.Note {
		s.Context.Fresh += size
		return
	}
	if len(s.Queue) >= maxQueue {
		s.fault(e, "more than %d messages wait", maxQueue)
		return
	}
	s.Queue = append(s.Queue, Queued{Seq: e.Seq, Key: b.Key, Size: size})
}

// TurnStarted opens a turn for a queued message, or for an await that was met.
type TurnStarted struct {
	headOnly
	N       int   `json:"n"`
	Message int64 `json:"message"`
	Met     bool  `json:"met,omitempty"` // Message is no message, but an await.met
}

func (b *TurnStarted) summary() string { return fmt.Sprintf("turn %d", b.N) }

func (b *TurnStarted) apply(s *State, e store.Event) {
	if s.Turn != nil {
		s.fault(e, "turn %d is still open", s.Turn.N)
		return
	}
	for i, q := range s.Queue {
		if q.Seq == b.Message {
			s.Context.Fresh += q.Size
			s.Queue = slices.Delete(s.Queue, i, i+1)
			break
		}
	}
	if c := s.Compaction; c != nil && c.Model.rests() {
		s.Compaction = nil // the one before was given up
	}
	s.Turns = b.N
	s.Turn = &Turn{N: b.N, Message: b.Message, Started: e.Time}
}

// TurnEnded closes the open turn.
type TurnEnded struct {
	headOnly
	N       int    `json:"n"`
	Stop    string `json:"stop"`
	Message string `json:"message,omitempty"` // what went wrong, if something did
}

func (b *TurnEnded) summary() string {
	return strings.TrimSpace(fmt.Sprintf("turn %d: %s %s", b.N, b.Stop, b.Message))
}

func (b *TurnEnded) apply(s *State, e store.Event) {
	t := s.Turn
	if t == nil || t.N != b.N {
		s.fault(e, "turn %d is not open", b.N)
		return
	}
	if t.Model != nil && t.Model.Status == CallRequested {
		s.fault(e, "call %s is still outstanding", t.Model.ID)
	}
	if c := s.Compaction; c != nil && c.Reason != CompactAsked && c.Reason != ForHandoff {
		s.Compaction = nil
	}
	s.Worked += max(0, e.Time-t.Started)
	s.leaveCalls(e, t)
	s.LastTurn = &TurnEnd{
		N: t.N, Stop: b.Stop, Message: b.Message, Steps: t.Step, Usage: t.Usage, Cost: t.Cost, Unpriced: t.Unpriced,
		Prompt: t.Message, Seq: e.Seq,
	}
	s.Turn = nil
}

// CancelRequested asks to end the open turn: what runs is stopped, what was asked for is answered as cancelled.
type CancelRequested struct {
	headOnly
	Turn int `json:"turn,omitempty"` // only if this turn is open; 0 means whichever
}

func (b *CancelRequested) summary() string {
	if b.Turn == 0 {
		return "whichever turn is open"
	}
	return fmt.Sprintf("turn %d", b.Turn)
}

func (b *CancelRequested) apply(s *State, e store.Event) {
	if s.Turn != nil && s.Turn.Cancel == nil && (b.Turn == 0 || b.Turn == s.Turn.N) {
		actor := e.Actor
		s.Turn.Cancel = &actor
		s.Turn.unasked()
	}
	s.cancelCompaction()
}

// cancelCompaction drops a compaction, at once or as soon as its call has ended.
func (s *State) cancelCompaction() {
	switch c := s.Compaction; {
	case c == nil:
	case c.Model != nil && c.Model.Status == CallRequested:
		c.Cancelled = true
	default:
		s.Compaction = nil
	}
}
