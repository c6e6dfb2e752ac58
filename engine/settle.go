package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/tool"
)

// settle finds out what became of an act that an earlier epoch left open, or that the user cancelled while nobody
// had it in flight. Exactly one outcome is appended.
func (s *Session) settle(ctx context.Context, a session.Action, do session.Settle) error {
	if do.Call == nil {
		return s.settleModel(ctx)
	}
	c := do.Call
	s.recovered = append(s.recovered, Recovery{Kind: "act", ID: a.ID, Text: "interrupted: " + c.Tool})
	p, err := s.plan(c)
	if err != nil {
		return fmt.Errorf("session %s: act %s: %w", s.state.ID, a.ID, err)
	}
	switch {
	case c.Effect == session.EffectProcess:
		return s.settleCommand(a, c, p, do.Cancel)
	case c.Effect == session.EffectEdit && c.Start.Edit != nil:
		return s.settleEdit(ctx, a.ID, c)
	case c.Effect.SafeToRetry() || p.tool != nil && p.tool.Spec().Idempotent:
		if do.Cancel {
			l := cancelledLanding(a.ID, nil)
			return s.append(ctx, l.actor, l.bodies...)
		}
		return s.append(ctx, engineActor, &session.ToolVoid{Act: a.ID, Reason: "interrupted; it is safe to run again"})
	}
	return s.append(ctx, engineActor, &session.ToolUnknown{
		Act: a.ID, Reason: "interrupted", Content: unknownContent("the agent was interrupted while it ran"),
	})
}

func unknownContent(why string) []session.Part {
	return []session.Part{session.TextPart("Outcome unknown: " + why + ". It may or may not have taken effect; check before you repeat it.")}
}

// settleModel counts a call whose reply was never sealed. The same request goes again.
func (s *Session) settleModel(ctx context.Context) error {
	m := s.state.Turn.Model
	usage, text := readSide(s.eng.cfg.SideDir, s.state.ID, m.ID)
	s.recovered = append(s.recovered, Recovery{Kind: "act", ID: m.ID, Text: "interrupted model call: the same request is sent again"})
	return s.append(ctx, engineActor, &session.ModelLost{
		Act: m.ID, Model: s.modelName(), Reason: "interrupted", Lost: orDefault(usage, m.Estimate), Text: []byte(text),
	})
}

// settleEdit looks at the file: as after, the change was made; as before, it was not; else nobody can tell.
func (s *Session) settleEdit(ctx context.Context, act string, c *session.Call) error {
	e := *c.Start.Edit
	now, _, err := s.eng.cfg.Files.Digest(e.Path)
	switch {
	case err == nil && now == e.Post:
		// A file that is as intended is only synced, as the first attempt would have done.
		content, _, err := s.eng.cfg.Files.Read(e.Path, 0)
		if err == nil {
			err = s.eng.cfg.Files.Replace(e, content)
		}
		if err != nil {
			return fmt.Errorf("session %s: act %s: %w", s.state.ID, act, err)
		}
		l := editLanding(act, c.Tool, e, true)
		return s.append(ctx, l.actor, l.bodies...)
	case err == nil && now == e.Pre:
		return s.append(ctx, engineActor, &session.ToolVoid{Act: act, Reason: "the file is as it was before"})
	}
	return s.append(ctx, engineActor, &session.ToolUnknown{
		Act: act, Reason: "conflict",
		Content: unknownContent("the agent was interrupted while it changed " + e.Path + ", and the file is neither as before nor as intended"),
	})
}

// settleCommand asks the shim's record. A command that still runs is waited for: it ran once, and its real result
// arrives.
func (s *Session) settleCommand(a session.Action, c *session.Call, p plan, cancel bool) error {
	t, ok := p.tool.(tool.Commander)
	if !ok || p.command == nil {
		return fmt.Errorf("session %s: act %s: tool %s runs no commands here", s.state.ID, a.ID, c.Tool)
	}
	f := s.commandFlight(a.ID, p, t, *c.Start, true)
	s.fly(a.ID, func(ctx context.Context) landing {
		st, err := s.eng.cfg.Commands.Settle(ctx, s.lease.Session, a.ID)
		switch {
		case ctx.Err() != nil && err != nil:
			return landing{}
		case err != nil:
			return landing{err: fmt.Errorf("act %s: %w", a.ID, err)}
		case st.Status == session.CommandAbsent && cancel:
			return cancelledLanding(a.ID, nil)
		case st.Status == session.CommandAbsent:
			return f.outcome(st, false)
		case cancel && !f.start.Background:
			if err := s.eng.cfg.Commands.Kill(ctx, s.lease.Session, a.ID, "user"); err != nil {
				return landing{err: fmt.Errorf("act %s: %w", a.ID, err)}
			}
			if st, err = s.eng.cfg.Commands.Wait(ctx, s.lease.Session, a.ID); err != nil {
				return landing{err: fmt.Errorf("act %s: %w", a.ID, err)}
			}
			return f.outcome(st, true)
		case st.Status == session.CommandLost && f.start.Background:
			return f.outcome(st, false)
		}
		return f.collect(ctx)
	})
	return nil
}
