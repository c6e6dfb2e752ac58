package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Recording keeps the conversation of an agent that this engine does not run, in the form of one that it does: the same
// turns, steps and calls, each with its intent and its outcome, so that all else works on it, a later Run included.

// RecordUser appends what the user said, as a turn of its own; a turn before it whose last reply makes no calls ends.
// Errors: session.ErrUnfit if calls wait for their results, or the model for its reply.
func (s *Session) RecordUser(ctx context.Context, parts ...model.Part) (store.Head, error) {
	var bodies []session.Body
	st := s.state
	if err := s.recordable(); err != nil {
		return st.Head, err
	}
	if t := st.Turn; t != nil {
		switch {
		case t.Model == nil || t.Model.Status != session.CallResponded:
			return st.Head, fmt.Errorf("session %s: %w: turn %d has no reply yet", st.ID, session.ErrUnfit, t.N)
		case len(t.Calls) > 0:
			return st.Head, fmt.Errorf("session %s: %w: the model has not replied to the results of its calls", st.ID, session.ErrUnfit)
		}
		bodies = append(bodies, &session.TurnEnded{N: t.N, Stop: session.TurnEndTurn})
	}
	bodies = append(bodies, &session.MessageReceived{Content: parts})
	seq := st.Head.Seq + int64(len(bodies))
	bodies = append(bodies, &session.TurnStarted{N: st.Turns + 1, Message: seq})
	user := store.Actor{Type: store.ActorUser}
	return s.record(ctx, user, bodies...)
}

// RecordReply appends a reply of the model that provider names, with its blocks' bytes as they came; the calls that it
// makes wait for their results then. Errors: session.ErrUnfit if nobody has spoken before it, or calls wait.
func (s *Session) RecordReply(ctx context.Context, provider string, r *modelapi.Response) (store.Head, error) {
	t := s.state.Turn
	if err := s.recordable(); err != nil {
		return s.state.Head, err
	}
	if err := soundReply(r); err != nil {
		return s.state.Head, fmt.Errorf("session %s: %w: %w", s.state.ID, session.ErrUnfit, err)
	}
	if t == nil {
		return s.state.Head, fmt.Errorf("session %s: %w: a reply to nothing", s.state.ID, session.ErrUnfit)
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; !c.Settled() {
			return s.state.Head, fmt.Errorf("session %s: %w: call %s (%s) has no result yet", s.state.ID, session.ErrUnfit, c.ToolUse, c.Tool)
		}
	}
	name := provider + "/" + r.Model
	act := session.AttemptID(session.ActBase(t.N, t.Step+1, 0), 1)
	reply := &session.ModelResponded{
		Act: act, Response: r.ID, Model: name, Provider: provider, Stop: r.Stop, Usage: r.Usage, Blocks: sealed(r.Blocks),
	}
	if !r.Unmetered {
		reply.Cost = s.eng.cost(name, s.state.Agent.Price, r.Usage)
	}
	return s.record(ctx, store.Actor{Type: store.ActorModel, ID: name}, &session.ModelRequested{
		Act: act, Turn: t.N, Step: t.Step + 1, Attempt: 1, Epoch: s.lease.Epoch, Model: name, Through: s.state.Head.Seq,
		Estimate: s.state.Estimate(),
	}, reply)
}

// RecordResult appends the result of a call that the newest reply makes, by the provider's id of the call.
func (s *Session) RecordResult(ctx context.Context, use string, isError bool, parts ...model.Part) (store.Head, error) {
	st := s.state
	if err := s.recordable(); err != nil {
		return st.Head, err
	}
	for i := 0; st.Turn != nil && i < len(st.Turn.Calls); i++ {
		c := &st.Turn.Calls[i]
		if c.ToolUse != use || c.Settled() {
			continue
		}
		outcome := session.OutcomeOK
		if isError {
			outcome = session.OutcomeError
		}
		return s.record(ctx, store.Actor{Type: store.ActorTool, ID: c.Tool},
			&session.ToolDecided{Act: c.ID, Effect: session.EffectExternal, Decision: session.Decision{
				Allow: true, Reason: "recorded: the agent decided by itself", Bound: st.Binding(c), Epoch: s.lease.Epoch,
			}},
			&session.ToolStarted{Act: c.ID, Start: session.Start{
				Epoch: s.lease.Epoch, BootID: s.eng.cfg.BootID, Time: s.eng.cfg.Now().UnixMilli(), About: s.about(c),
			}},
			&session.ToolFinished{Act: c.ID, Outcome: outcome, Content: parts})
	}
	return st.Head, fmt.Errorf("session %s: %w: no call %q waits for its result", st.ID, session.ErrUnfit, use)
}

// recordable is why nothing can be recorded any more, whatever it is.
func (s *Session) recordable() error {
	if s.released {
		return fmt.Errorf("session %s: record: %w", s.state.ID, ErrReleased)
	}
	return s.failed
}

// soundReply refuses a reply that would lose words, or that no model API would take back as a part of the conversation.
func soundReply(r *modelapi.Response) error {
	if r == nil {
		return errors.New("there is no reply")
	}
	seen := map[string]bool{}
	for i, b := range r.Blocks {
		switch {
		case b.Type == model.BlockToolUse:
			if b.Tool == nil || b.Tool.ID == "" || b.Tool.Name == "" {
				return fmt.Errorf("block %d is a call: it needs Tool, with its ID and its Name", i)
			}
			if seen[b.Tool.ID] {
				return fmt.Errorf("block %d is a call with the ID %q, as is one before it", i, b.Tool.ID)
			}
			seen[b.Tool.ID] = true
		case b.Type == "":
			return fmt.Errorf("block %d has no Type", i)
		case b.Type == model.BlockToolResult:
			return fmt.Errorf("block %d is the result of a call: those are recorded one by one", i)
		case b.Type != model.BlockText && b.Type != model.BlockThinking && len(b.Raw) == 0:
			return fmt.Errorf("block %d is of type %q, of which only Raw is kept, and has none", i, b.Type)
		}
	}
	return nil
}

// record appends in one commit what must fit.
func (s *Session) record(ctx context.Context, actor store.Actor, bodies ...session.Body) (store.Head, error) {
	err := s.Append(ctx, actor, bodies...)
	return s.state.Head, err
}
