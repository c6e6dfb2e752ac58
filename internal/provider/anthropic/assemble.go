package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/provider/api"
	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/internal/provider/toolid"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// maxBlocks bounds the blocks of one reply.
const maxBlocks = 10_000

// assembler makes a response of the events of one stream.
type assembler struct {
	req       modelapi.Request
	requestID string
	sink      func(modelapi.Delta)

	started bool
	done    bool
	id      string
	model   string
	usage   model.Usage
	stop    string
	blocks  []*block
}

func newAssembler(r modelapi.Request, requestID string, sink func(modelapi.Delta)) *assembler {
	if sink == nil {
		sink = func(modelapi.Delta) {}
	}
	return &assembler{req: r, requestID: requestID, sink: sink}
}

// event is what the API's events have in common.
type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message json.RawMessage `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
}

// event takes the data of one event.
func (a *assembler) event(data []byte) error {
	if !utf8.Valid(data) {
		data = toValid(data)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return a.protocol("event is not understood: %v: %.200q", err, data)
	}
	switch e.Type {
	case "error":
		return api.InStream(data, a.requestID)
	case "message_start":
		return a.begin(e.Message)
	case "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		if !a.started {
			return a.protocol("%s came before message_start", e.Type)
		}
	default:
		return nil // ping, and kinds that newer versions of the API add
	}
	switch e.Type {
	case "content_block_start":
		return a.open(e.Index, e.Block)
	case "content_block_delta":
		return a.delta(e.Index, e.Delta)
	case "message_delta":
		if v := raw.Get(e.Delta, "stop_reason"); !raw.IsNull(v) {
			a.stop, _ = raw.String(v)
		}
		a.count(e.Usage)
	case "message_stop":
		a.done = true
	}
	return nil
}

func (a *assembler) begin(message []byte) error {
	if a.started {
		return a.protocol("message_start came twice")
	}
	a.started = true
	a.id, a.model = raw.GetString(message, "id"), raw.GetString(message, "model")
	a.count(raw.Get(message, "usage"))
	a.sink(modelapi.Delta{Kind: modelapi.DeltaStart, Usage: a.asked()})
	return nil
}

// count takes counts that are cumulative: none of them ever falls, so that a compatible server's zero in a later
// event does not undo what an earlier one said.
func (a *assembler) count(usage []byte) {
	u := &a.usage
	u.Input = max(u.Input, raw.Int(raw.Get(usage, "input_tokens")))
	u.Output = max(u.Output, raw.Int(raw.Get(usage, "output_tokens")))
	u.CacheRead = max(u.CacheRead, raw.Int(raw.Get(usage, "cache_read_input_tokens")))
	u.CacheWrite = max(u.CacheWrite, raw.Int(raw.Get(usage, "cache_creation_input_tokens")))
}

// asked is what the request took, without the reply.
func (a *assembler) asked() model.Usage {
	u := a.usage
	u.Output = 0
	return u
}

func (a *assembler) open(index int, start []byte) error {
	if index != len(a.blocks) || index >= maxBlocks {
		return a.protocol("block %d begins after %d blocks", index, len(a.blocks))
	}
	if !raw.IsObject(start) {
		return a.protocol("block %d is no object", index)
	}
	b := newBlock(start)
	if b.kind == "" || (b.kind == "tool_use" && raw.GetString(start, "name") == "") {
		return a.protocol("block %d has no type or no name: %.200q", index, start)
	}
	a.blocks = append(a.blocks, b)
	if b.kind == "tool_use" {
		a.sink(modelapi.Delta{Kind: modelapi.DeltaTool, Tool: raw.GetString(start, "name"), ID: raw.GetString(start, "id")})
	}
	return nil
}

func (a *assembler) delta(index int, delta []byte) error {
	if index < 0 || index >= len(a.blocks) {
		return a.protocol("a delta is for block %d of %d", index, len(a.blocks))
	}
	d, err := a.blocks[index].add(delta)
	if err != nil {
		return a.protocol("block %d: %v", index, err)
	}
	if d.Text != "" {
		a.sink(d)
	}
	return nil
}

// response seals the blocks.
func (a *assembler) response() (*modelapi.Response, error) {
	stop, err := a.stopReason()
	if err != nil {
		return nil, err
	}
	r := &modelapi.Response{ID: a.id, Model: a.model, Stop: stop, Usage: a.usage}
	r.Unmetered = a.usage == model.Usage{}
	used := toolid.InHistory(a.req.Messages)
	calls := false
	for i, b := range a.blocks {
		sealed, whole := b.seal()
		if !whole || (b.isTool() && b.silent && cut(stop) && i == len(a.blocks)-1) {
			if !cut(stop) {
				return nil, a.protocol("the input of block %d is no JSON object: %.200q", i, b.input())
			}
			continue
		}
		bl := view(sealed)
		if bl.Tool != nil {
			calls = true
			if id := used.Claim(bl.Tool.ID, a.req.Act, i, toolid.Fit); id != bl.Tool.ID {
				bl = view(raw.Set(sealed, "id", raw.AppendString(nil, id)))
			}
		}
		r.Blocks = append(r.Blocks, bl)
	}
	if calls && stop == modelapi.StopEndTurn {
		r.Stop = modelapi.StopToolUse
	}
	return r, nil
}

// cut reports whether a reply may have ended in the middle of a block.
func cut(s modelapi.StopReason) bool {
	return s == modelapi.StopMaxTokens || s == modelapi.StopContext || s == modelapi.StopRefusal
}

func (a *assembler) stopReason() (modelapi.StopReason, error) {
	switch a.stop {
	case "end_turn", "stop_sequence":
		return modelapi.StopEndTurn, nil
	case "tool_use":
		return modelapi.StopToolUse, nil
	case "max_tokens":
		return modelapi.StopMaxTokens, nil
	case "pause_turn", "compaction":
		return modelapi.StopPause, nil
	case "refusal":
		return modelapi.StopRefusal, nil
	case "model_context_window_exceeded":
		return modelapi.StopContext, nil
	}
	return "", a.protocol("the reply ended with the stop reason %q", a.stop)
}

// lost completes an error of a reply that was not sealed.
func (a *assembler) lost(err error) error {
	e, ok := errors.AsType[*modelapi.Error](err)
	if !ok {
		if errors.Is(err, io.EOF) {
			e = &modelapi.Error{Class: modelapi.ClassDisconnect, Message: "the stream ended before the reply was complete"}
		} else {
			return err
		}
	}
	if e.RequestID == "" {
		e.RequestID = a.requestID
	}
	e.Started, e.Usage = a.started, a.asked()
	return e
}

func (a *assembler) protocol(format string, args ...any) error {
	return api.Protocol(a.requestID, format, args...)
}
