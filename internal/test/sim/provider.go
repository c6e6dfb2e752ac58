package sim

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Reply is one answer of the model.
type Reply struct {
	Blocks []model.Block
	Stop   modelapi.StopReason
	Fail   []*modelapi.Error // what the first attempts get instead
	Hang   string            // streams for ever, until it is stopped; a human does this meanwhile
}

// provider is the model API as a process sees it.
type provider struct{ p *process }

var _ modelapi.Provider = provider{}

func (provider) Name() string { return "sim" }

func (provider) Prefix(r modelapi.Request) ([32]byte, error) {
	return store.Sum(bytes.Join(encodeMessages(r), []byte{1})), nil
}

// Times of a call.
const (
	toFirst = 150 * time.Millisecond
	toLast  = 250 * time.Millisecond
)

func (m provider) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	w := m.p.w
	reply, err := m.begin(r)
	if err != nil {
		return nil, err
	}
	if err := m.sleep(ctx, toFirst); err != nil {
		return nil, err
	}
	n := attemptOf(r.Act)
	if n <= len(reply.Fail) && reply.Fail[n-1].Status != 0 {
		w.refuse(r.Act)
		return nil, reply.Fail[n-1]
	}
	usage := model.Usage{Input: int64(10 + len(r.Messages)), CacheRead: 7, CacheWrite: 3}
	if w.script.Window > 0 {
		usage = model.Usage{Input: int64(len(bytes.Join(encodeMessages(r), nil)) / 4)}
	}
	sink(modelapi.Delta{Kind: modelapi.DeltaStart, Usage: usage})
	if err := m.p.point("model.mid"); err != nil {
		return nil, err
	}
	sink(modelapi.Delta{Kind: modelapi.DeltaText, Text: "part of a reply"})
	if reply.Hang != "" {
		w.hook(reply.Hang)
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-m.p.ctx.Done():
			return nil, ErrDead
		}
	}
	if err := m.sleep(ctx, toLast); err != nil {
		return nil, err
	}
	if n <= len(reply.Fail) {
		broken := *reply.Fail[n-1]
		broken.Started, broken.Usage = true, usage
		return nil, &broken
	}
	if err := m.p.point("model.end"); err != nil {
		return nil, err
	}
	usage.Output = int64(len(reply.Blocks))
	return &modelapi.Response{ID: "r", Model: "sim-1", Blocks: reply.Blocks, Stop: reply.Stop, Usage: usage}, nil
}

// begin takes the request in, checks it and finds the answer.
func (m provider) begin(r modelapi.Request) (Reply, error) {
	w := m.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := m.p.pointLocked("model.start"); err != nil {
		return Reply{}, err
	}
	name, k := placeOf(r.Messages)
	lineage := m.p.session
	w.inspect(lineage, r)
	w.intended(lineage, session.KindModelRequested, `"act":"`+r.Act+`"`)
	if id := lineage + " " + r.Act; w.served[id] {
		w.faultLocked("request %s was sent twice", id)
	} else {
		w.served[id] = true
	}
	w.calls = append(w.calls, modelCall{lineage: lineage, act: r.Act})
	if r.NoTools {
		return summaryOf(r), nil
	}
	if compacted(r.Messages) && name == "" {
		name, k = placeOfAct(r)
	}
	if w.script.On != nil {
		if reply := w.script.On(newest(r.Messages)); reply != nil {
			return *reply, nil
		}
	}
	replies := w.script.Turns[name]
	if k >= len(replies) {
		w.faultLocked("the script of %q has no reply %d", name, k+1)
		return Reply{}, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: "the script is over"}
	}
	return replies[k], nil
}

func (m provider) sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return m.p.check()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.p.ctx.Done():
		return ErrDead
	}
}

// modelCall is one request that reached the API.
type modelCall struct {
	lineage, act string
	refused      bool // answered by an error status: it took no tokens
}

func (w *World) refuse(act string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.calls) - 1; i >= 0; i-- {
		if w.calls[i].act == act {
			w.calls[i].refused = true
			return
		}
	}
}

// placeOf tells where in the script a conversation is: the newest prompt, and how many replies followed it.
func placeOf(ms []model.Message) (prompt string, replies int) {
	for _, m := range ms {
		if m.Role == model.RoleAssistant {
			replies++
			continue
		}
		for _, b := range m.Blocks {
			name, ok := strings.CutPrefix(b.Text, "turn:")
			if b.Type != model.BlockText || !ok {
				continue
			}
			prompt, replies = name, 0
		}
	}
	return prompt, replies
}

func attemptOf(act string) (n int) {
	_, _ = fmt.Sscanf(act[strings.LastIndex(act, ".a")+2:], "%d", &n)
	return n
}

// encodeMessages gives the bytes of a request: what is frozen, then message by message.
func encodeMessages(r modelapi.Request) [][]byte {
	out := make([][]byte, 0, len(r.Messages)+1)
	out = append(out, append([]byte(r.System+"\x00"), r.Tools...))
	for _, m := range r.Messages {
		out = append(out, encodeMessage(m))
	}
	return out
}

func encodeMessage(m model.Message) []byte {
	b := append([]byte(nil), m.Role...)
	for _, bl := range m.Blocks {
		b = append(b, '\n')
		b = append(b, encodeBlock(bl)...)
	}
	return b
}

func encodeBlock(bl model.Block) []byte {
	b := append([]byte(bl.Type), 0)
	b = append(append(b, bl.Raw...), 0)
	b = append(append(b, bl.Text...), 0)
	if bl.Tool != nil {
		b = append(append(append(append(b, bl.Tool.ID...), 0), bl.Tool.Name...), 0)
		b = append(b, bl.Tool.Input...)
	}
	if bl.Result != nil {
		b = append(append(b, bl.Result.ID...), 0)
		if bl.Result.IsError {
			b = append(b, "error"...)
		}
		for _, p := range bl.Result.Content {
			b = append(append(append(b, 0), p.Type...), 0)
			b = append(b, p.Data...)
		}
	}
	return append(append(b, bl.Media...), bl.Data...)
}
