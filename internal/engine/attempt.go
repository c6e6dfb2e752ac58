package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// modelFlight is one attempt of a model call under way.
type modelFlight struct {
	s        *modelCalls
	act      string
	provider modelapi.Provider
	req      modelapi.Request
	model    string
	price    *model.Price
	estimate int64
	retry    retryPlan
}

func (f modelFlight) fly(ctx context.Context) landing {
	side := openSide(f.s.eng.cfg.SideDir, f.s.lease.Session, f.act)
	defer side.close()
	resp, err := f.call(ctx, side)
	switch {
	case err == nil:
		side.discard = true
		return landing{actor: store.Actor{Type: store.ActorModel, ID: f.model}, bodies: []session.Body{f.seal(resp)}}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errCancelled):
		side.discard = true
		usage, text := side.seen()
		return landing{actor: engineActor, bodies: []session.Body{&session.ModelLost{
			Act: f.act, Model: f.model, Reason: "cancelled", Lost: orDefault(usage, f.estimate), Text: []byte(text),
		}}}
	case ctx.Err() != nil:
		return landing{} // parked: the side file stays for the next holder
	}
	side.discard = true
	return landing{actor: engineActor, bodies: []session.Body{f.fail(err)}}
}

// call asks the provider once. One of somebody's own that panics, or returns nothing at all, has failed.
func (f modelFlight) call(ctx context.Context, side *side) (resp *modelapi.Response, err error) {
	defer func() {
		cause := recover()
		switch {
		case cause != nil:
			resp, err = nil, &modelapi.Error{Class: modelapi.ClassProtocol, Message: fmt.Sprintf("the provider panicked: %v", cause)}
		case resp == nil && err == nil:
			err = &modelapi.Error{Class: modelapi.ClassProtocol, Message: "the provider returned neither a reply nor an error"}
		}
	}()
	var tool, use string // of the newest tool block
	return f.provider.Call(ctx, f.req, func(d modelapi.Delta) {
		side.write(d)
		u := Update{Session: f.s.lease.Session, Act: f.act, Kind: string(d.Kind), Text: d.Text}
		if d.Kind == modelapi.DeltaText && session.ForSummary(f.act) {
			u.Kind = "summary"
		}
		if d.Kind == modelapi.DeltaTool {
			if d.Tool != "" {
				tool, use = d.Tool, d.ID
			}
			u.Tool, u.Use = tool, use
		}
		f.s.observe(u)
	})
}

// cost is what a call took, in nano-USD: by the engine's price list if it knows better than one price for all lengths of
// prompts, else by the session's price. Nil is unknown.
func (e *Engine) cost(name string, price *model.Price, u model.Usage) *int64 {
	if e.cfg.Cost != nil {
		if c := e.cfg.Cost(name, u); c != nil {
			return c
		}
	}
	return meter.Cost(price, u)
}

func (f modelFlight) seal(r *modelapi.Response) *session.ModelResponded {
	b := &session.ModelResponded{
		Act: f.act, Response: r.ID, Model: f.model, Provider: f.provider.Name(), Stop: r.Stop, Usage: r.Usage,
		Blocks: sealed(r.Blocks),
	}
	if !r.Unmetered { // else nobody knows what it took
		b.Cost = f.s.eng.cost(f.model, f.price, r.Usage)
	}
	return b
}

// sealed are blocks as the log keeps them.
func sealed(blocks []model.Block) []session.SealedBlock {
	out := make([]session.SealedBlock, len(blocks))
	for i, bl := range blocks {
		sb := session.SealedBlock{Type: bl.Type, Raw: bl.Raw}
		switch {
		case bl.Tool != nil:
			sb.ID, sb.Name, sb.Input = bl.Tool.ID, bl.Tool.Name, bl.Tool.Input
		case bl.Type == model.BlockText:
			sb.Shown = []byte(bl.Text)
		}
		out[i] = sb
	}
	return out
}

// fail classifies a failed attempt and fixes when, if ever, the next one is due.
func (f modelFlight) fail(err error) *session.ModelFailed {
	var me *modelapi.Error
	if !errors.As(err, &me) {
		me = &modelapi.Error{Class: modelapi.ClassProtocol, Message: err.Error()}
	}
	b := &session.ModelFailed{
		Act: f.act, Model: f.model, Class: string(me.Class), Status: me.Status,
		Message: f.s.cleanCut(me.Message), // servers quote the key that they refuse
	}
	// An answer with an error status is a refusal and took no tokens. Anything that broke off after the request was
	// sent may have.
	switch {
	case me.Started:
		b.Lost = orDefault(me.Usage.Input+me.Usage.CacheRead+me.Usage.CacheWrite, f.estimate)
	case me.Status == 0 && me.Class != modelapi.ClassUnreached:
		b.Lost = f.estimate
	}
	b.Started = me.Started || me.Class == modelapi.ClassProtocol
	if !me.Retryable() {
		return b
	}
	now := f.s.eng.cfg.Now()
	if delay, jitter, ok := f.retry.next(now, me.RetryAfter, b.Started, f.s.eng.cfg.Jitter()); ok {
		b.DelayMS, b.Jitter = delay.Milliseconds(), jitter.Milliseconds()
		b.RetryAt, b.Until = now.Add(delay).UnixMilli(), f.retry.until(now).UnixMilli()
	}
	return b
}

// cleanCut replaces secrets in a text that may have been cut, and leaves out what may be the beginning of one at the cut.
func (s *held) cleanCut(text string) string {
	const more = "…"
	b, cut := strings.CutSuffix(text, more)
	out := []byte(b)
	if !cut {
		return string(s.eng.cfg.Secrets.Replace(out))
	}
	return string(s.eng.cfg.Secrets.Replace(out[:len(out)-s.eng.cfg.Secrets.Partial(out)])) + more
}
