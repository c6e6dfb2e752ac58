package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
)

// decide asks the rules about a call and appends what they say: an allow or a deny, a request for approval, a
// question, or at once the refusal of a call that cannot be made.
func (s *toolCalls) decide(ctx context.Context, a session.Action, c *session.Call) error {
	p, err := s.plan(c)
	if err != nil {
		return fmt.Errorf("session %s: act %s: %w", s.state.ID, a.ID, err)
	}
	if p.refusal != nil {
		return s.append(ctx, engineActor, refused(a.ID, *p.refusal))
	}
	bound := s.state.Binding(c)
	d := permission.Decide(s.policy(), p.ask)
	if why := s.doubt(p); why != "" && d.Effect == permission.Allow {
		d = permission.Decision{Effect: permission.Ask, Reason: why, Always: true}
	}
	decided := &session.ToolDecided{Act: a.ID, Effect: p.effect, Decision: session.Decision{
		Allow: d.Effect == permission.Allow, Rule: d.Rule, Reason: d.Reason, Bound: bound, Pre: p.pre, Epoch: s.lease.Epoch,
		Target: s.target(p), Always: d.Always,
	}}
	switch {
	case d.Effect == permission.Ask && c.Approval.Covers(decided.Decision):
		decided.Decision.Allow, decided.Decision.Human = true, true
	case d.Effect == permission.Ask:
		offer := ""
		if !d.Always {
			offer = permission.Suggest(p.ask)
		}
		return s.append(ctx, engineActor, &session.ApprovalRequested{
			Act: a.ID, Effect: p.effect, Rule: d.Rule, Reason: d.Reason, Offer: offer, Bound: bound, Pre: p.pre, Cwd: s.state.Cwd,
			Target: decided.Decision.Target, Always: d.Always,
		})
	}
	bodies := []session.Body{decided}
	if asker, ok := p.tool.(tools.Asker); ok && decided.Decision.Allow {
		q, refusal := asker.Question(p.call)
		if refusal != nil {
			return s.append(ctx, engineActor, refused(a.ID, *refusal))
		}
		bodies = append(bodies, &session.QuestionAsked{Act: a.ID, Question: *q})
	}
	return s.append(ctx, engineActor, bodies...)
}

// doubt is why a person is to agree to a call that the rules allow; empty: nobody need.
func (s *world) doubt(p plan) string {
	if t, ok := p.tool.(tools.Doubter); ok {
		return t.Doubt(p.call, s.env())
	}
	return ""
}

// target is the resolved path that a call works on, as the log keeps it.
func (s *world) target(p plan) string { return string(s.eng.cfg.Secrets.Replace([]byte(p.path))) }

func refused(act string, r tools.Result) *session.ToolFinished {
	fin := &session.ToolFinished{Act: act, Outcome: session.OutcomeError, Reason: "refused", Content: r.Content}
	if !r.IsError {
		fin.Outcome, fin.Reason = session.OutcomeOK, "nothing to do"
	}
	return fin
}

func errorResult(format string, args ...any) *tools.Result {
	return &tools.Result{IsError: true, Content: []model.Part{model.TextPart(fmt.Sprintf(format, args...))}}
}
