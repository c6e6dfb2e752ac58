package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Transcript is the conversation as the model sees it, folded from a log's events: the bytes that State leaves out.
// It holds the live context in memory, no more. It is deterministic: the same events give the same messages.
//
// A user message is sealed when a model call is requested: first the results of all tool calls in block order, then
// notes, then the prompt. What arrives later waits for the next request, so that a retry sends what was sent.
type Transcript struct {
	messages []model.Message
	through  int64                  // of the newest request
	calls    []sentCall             // of the newest reply, in block order
	results  map[string]model.Block // by act base
	notes    []model.Part           // waiting for the next request
	prompt   []model.Part           // waiting for the next request
	queued   map[int64][]model.Part // received messages, by seq, until their turn starts
	paused   bool                   // the newest reply goes back as it is, and nothing after it

	overlay overlaid
	sealed  place // of the request that sealed the newest user message
	replied place // of the newest reply
	in      string
	cuts    []Cut
	starts  []start
	prompts []Prompt // that were sent, oldest first
	unsent  []Prompt
	given   []GivenPart
}

// NoResult is the answer to a call of which the log has no outcome yet.
const NoResult = "No result was recorded for this call."

type sentCall struct{ base, toolUse string }

// Fork tells the transcript that the events before this were the parent's. Queued messages stay with the parent.
func (t *Transcript) fork() {
	t.queued, t.through = nil, 0
}

// spoken is implemented by the bodies that a [Transcript] reads: they are the conversation.
type spoken interface {
	Body
	speak(t *Transcript, e store.Event)
}

// Apply adds one event. Events must come in order; those of a fork's ancestors first.
func (t *Transcript) Apply(e store.Event, body Body) {
	if b, ok := body.(spoken); ok {
		b.speak(t, e)
	}
}

func (b *Forked) speak(t *Transcript, _ store.Event)          { t.fork() }
func (b *MessageReceived) speak(t *Transcript, e store.Event) { t.receive(e.Seq, b) }
func (b *TurnStarted) speak(t *Transcript, e store.Event)     { t.start(b, e.Seq) }
func (b *Compacted) speak(t *Transcript, e store.Event)       { t.compact(b, e.Seq) }
func (b *ModelRequested) speak(t *Transcript, e store.Event) {
	if b.Purpose == "" {
		t.request(b.Through, e.Seq)
	}
}

func (b *ModelResponded) speak(t *Transcript, e store.Event) {
	if !ForSummary(b.Act) {
		t.respond(b, e.Seq)
	}
}

func (b *ToolFinished) speak(t *Transcript, e store.Event) {
	t.result(b.Act, b.Outcome != OutcomeOK, t.cut(b.Act, b.Content, e.Seq))
}

func (b *ToolUnknown) speak(t *Transcript, _ store.Event)   { t.result(b.Act, true, b.Content) }
func (b *AwaitMet) speak(t *Transcript, _ store.Event)      { t.note(b.Text) }
func (b *PlanEdited) speak(t *Transcript, _ store.Event)    { t.note(b.Text) }
func (b *AwaitDropped) speak(t *Transcript, _ store.Event)  { t.note(b.Text) }
func (b *FilesRestored) speak(t *Transcript, _ store.Event) { t.note(b.Text) }

func (t *Transcript) request(through, seq int64) {
	if through != t.through {
		t.seal()
		t.through, t.sealed = through, place{t.in, seq}
	}
}

func (t *Transcript) receive(seq int64, b *MessageReceived) {
	if b.Note {
		t.notes = append(t.notes, b.Content...)
		return
	}
	if t.queued == nil {
		t.queued = map[int64][]model.Part{}
	}
	t.queued[seq] = b.Content
}

func (t *Transcript) note(text []byte) {
	if len(text) > 0 {
		t.notes = append(t.notes, model.Part{Type: model.BlockText, Data: text})
	}
}

// start moves a queued message into the prompt. A turn always says something: APIs refuse a request that ends with a
// reply, or holds an empty text.
func (t *Transcript) start(b *TurnStarted, seq int64) {
	t.starts = append(t.starts, start{place{t.in, seq}, b.Message})
	met := t.notes
	if b.Met { // its words are among the notes: here they are the prompt
		t.prompt, t.notes = append(t.prompt, t.notes...), nil
	}
	content := t.queued[b.Message]
	if Blank(content) && (!b.Met || ContentSize(t.prompt) == 0) {
		content = []model.Part{model.TextPart("(empty message)")}
	}
	t.prompt = append(t.prompt, content...)
	said := content
	if b.Met {
		said = met
	}
	t.unsent = append(t.unsent, Prompt{Seq: b.Message, Met: b.Met, Content: said})
	delete(t.queued, b.Message)
}

func (t *Transcript) respond(b *ModelResponded, seq int64) {
	if b.Stop == modelapi.StopRefusal || len(b.Blocks) == 0 {
		return
	}
	if !t.paused {
		t.cuts = append(t.cuts, Cut{In: t.sealed.in, Through: t.sealed.seq, Sent: t.through, Message: len(t.messages)})
	}
	msg := model.Message{Role: model.RoleAssistant, Blocks: make([]model.Block, 0, len(b.Blocks))}
	t.calls, t.results, t.paused = nil, map[string]model.Block{}, b.Stop == modelapi.StopPause
	for i, sb := range b.Blocks {
		if sb.Type == model.BlockThinking && t.kept(seq) {
			continue // it is bound to what stood before it then
		}
		bl := model.Block{Type: sb.Type, Raw: sb.Raw, Provider: b.Provider, Text: string(sb.Shown)}
		if sb.Type == model.BlockToolUse {
			bl.Tool = &model.ToolUse{ID: sb.ID, Name: sb.Name, Input: sb.Input}
			t.calls = append(t.calls, sentCall{base: siblingBase(b.Act, i+1), toolUse: sb.ID})
		}
		msg.Blocks = append(msg.Blocks, bl)
	}
	if len(msg.Blocks) == 0 {
		return
	}
	// A reply that goes on after a pause stays a message of its own: what was sent before it never changes.
	t.messages = append(t.messages, msg)
	t.replied = place{t.in, seq}
}

// siblingBase names the act of another block of the same step.
func siblingBase(act string, block int) string {
	base := BaseOf(act)
	if i := strings.LastIndex(base, ".b"); i >= 0 {
		base = base[:i]
	}
	return base + ".b" + strconv.Itoa(block)
}

func (t *Transcript) result(act string, isError bool, content []model.Part) {
	if t.results == nil {
		t.results = map[string]model.Block{}
	}
	base := BaseOf(act)
	if _, answered := t.results[base]; answered {
		return // exactly one outcome counts, the first
	}
	t.results[base] = model.Block{Type: model.BlockToolResult, Result: &model.ToolResult{IsError: isError, Content: content}}
}

// seal moves what waits into a user message. Every tool call of the reply before it is answered there, whatever
// happened: a call without a recorded result is answered as such, so that no log can poison a session.
func (t *Transcript) seal() {
	if t.paused && len(t.calls) == 0 && len(t.prompt) == 0 {
		return // notes wait until it has gone on
	}
	t.paused = false
	var blocks []model.Block
	for _, c := range t.calls {
		r, ok := t.results[c.base]
		if !ok {
			r = model.Block{Type: model.BlockToolResult, Result: &model.ToolResult{IsError: true, Content: []model.Part{model.TextPart(NoResult)}}}
		}
		result := *r.Result
		result.ID = c.toolUse
		r.Result = &result
		blocks = append(blocks, r)
	}
	for _, parts := range [][]model.Part{t.notes, t.prompt} {
		for _, p := range parts {
			if p.Type != model.BlockText || !blank(p.Data) { // a text without words is refused by APIs, for ever
				blocks = append(blocks, partBlock(p))
			}
		}
	}
	t.calls, t.results, t.notes, t.prompt = nil, nil, nil, nil
	if len(blocks) == 0 {
		return
	}
	n := len(t.messages)
	joins := n > 0 && t.messages[n-1].Role == model.RoleUser // the reply before was empty
	at := n
	if joins {
		at--
	}
	for _, p := range t.unsent {
		p.Message = at
		t.prompts = append(t.prompts, p)
	}
	t.unsent = nil
	t.sendGiven(at)
	if joins {
		t.messages = slices.Clone(t.messages) // slices handed out do not change
		last := &t.messages[n-1]
		last.Blocks = append(slices.Clone(last.Blocks), blocks...)
		return
	}
	t.messages = append(t.messages, model.Message{Role: model.RoleUser, Blocks: blocks})
}

func partBlock(p model.Part) model.Block {
	if p.Type == model.BlockText {
		return model.Block{Type: model.BlockText, Text: string(p.Data)}
	}
	return model.Block{Type: p.Type, Media: p.Media, Data: p.Data}
}

// Messages returns the conversation as of the newest request and the replies since. The slice may be kept: later
// events do not change it.
func (t *Transcript) Messages() []model.Message { return t.messages[:len(t.messages):len(t.messages)] }

// Upcoming returns the messages that the next new request would send.
func (t *Transcript) Upcoming() []model.Message {
	c := *t
	c.messages = t.Messages()
	c.seal()
	return c.messages
}

// LastText is the text of the newest reply; empty if the last message is not a reply.
func (t *Transcript) LastText() string {
	if len(t.messages) == 0 || t.messages[len(t.messages)-1].Role != model.RoleAssistant {
		return ""
	}
	var b strings.Builder
	for _, bl := range t.messages[len(t.messages)-1].Blocks {
		if bl.Type == model.BlockText {
			b.WriteString(bl.Text)
		}
	}
	return b.String()
}
