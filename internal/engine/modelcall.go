package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// callModel fixes what is sent, logs it, and sends it. A retry sends what was sent before and nothing newer.
func (s *Session) callModel(ctx context.Context, a session.Action, do session.CallModel) error {
	provider, err := s.provider()
	if err != nil {
		return err
	}
	if do.Through == 0 {
		first := !s.looked
		if err := s.tellChanged(ctx); err != nil {
			return err
		}
		if err := s.tellInstructions(ctx, first); err != nil {
			return err
		}
	}
	t, err := s.Transcript(ctx)
	if err != nil {
		return err
	}
	through, messages := do.Through, t.Messages()
	if through == 0 {
		through, messages = s.state.Head.Seq, t.Upcoming()
	}
	req := s.request(a.ID, messages)
	if m := s.state.Turn.Model; do.Through > 0 && m != nil && m.MaxTokens > 0 {
		req.MaxTokens = min(m.MaxTokens, s.state.Agent.MaxTokens) // a retry is the same request
	}
	prefix, err := provider.Prefix(req)
	if err != nil {
		return fmt.Errorf("session %s: render request: %w", s.state.ID, err)
	}
	err = s.append(ctx, engineActor, &session.ModelRequested{
		Act: a.ID, Turn: a.Turn, Step: do.Step, Attempt: do.Attempt, Epoch: s.lease.Epoch, Model: s.modelName(),
		Through: through, Prefix: prefix, MaxTokens: req.MaxTokens, Estimate: s.state.Estimate(),
	})
	if err != nil {
		return err
	}
	s.flyCall(a.ID, provider, req)
	return nil
}

// flyCall sends a request that is in the log.
func (s *modelCalls) flyCall(act string, provider modelapi.Provider, req modelapi.Request) {
	call := modelFlight{
		s: s, act: act, provider: provider, req: req, model: s.modelName(), price: s.state.Agent.Price,
		estimate: s.state.Estimate(), retry: s.retryPlan(),
	}
	s.fly(act, call.fly)
}

// errNoAgent is for a session without an agent, which has no model to call.
var errNoAgent = invalid.New("the session has no model: give it an agent, as Home.Agent makes one, by Spec.Agent or Options.Agent")

// provider is the session's; that there is none is an error.
func (s *modelCalls) provider() (modelapi.Provider, error) {
	provider, err := s.eng.cfg.Provider(s.modelName())
	switch a := s.state.Agent; {
	case err == nil && provider != nil:
		return provider, nil
	case a.Provider == "" && a.Model == "":
		err = errNoAgent
	case err == nil:
		err = fmt.Errorf("there is no provider of %s", s.modelName())
	}
	return nil, fmt.Errorf("session %s: %w", s.state.ID, err)
}

func (s *held) modelName() string { return s.state.Agent.Provider + "/" + s.state.Agent.Model }

// request renders nothing: it gathers what is frozen and what the conversation is. The bound of the reply shrinks
// with the room that is left in the window.
func (s *modelCalls) request(act string, messages []model.Message) modelapi.Request {
	a := s.state.Agent
	room := a.MaxTokens
	if a.Window > 0 {
		room = min(room, a.Window-s.state.Estimate())
	}
	return modelapi.Request{
		Act: act, Model: a.Model, System: a.System, Tools: a.Tools, Messages: messages, MaxTokens: room,
		Params: modelapi.Params{APIVersion: a.APIVersion, Betas: a.Betas, Thinking: a.Thinking},
	}
}
