package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
)

// settle finds out what became of an act that an earlier epoch left open, or that the user cancelled while nobody
// had it in flight. Exactly one outcome is appended.
func (s *Session) settle(ctx context.Context, a session.Action, do session.Settle) error {
	if do.Call == nil {
		return s.settleModel(ctx, a.ID)
	}
	c := do.Call
	s.recovered = append(s.recovered, Recovery{Kind: "act", ID: a.ID, Text: "interrupted: " + c.Tool})
	p, err := s.plan(c)
	if err != nil {
		return fmt.Errorf("session %s: act %s: %w", s.state.ID, a.ID, err)
	}
	switch {
	case c.Effect == session.EffectProcess:
		return s.settleCommand(ctx, a, c, p, do.Cancel)
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

// sweep removes the act directories that a crash left between a command's outcome and its removal: those of the newest
// step, those of attempts that did not run, and what was never finished or not wholly removed.
func (s *Session) sweep() {
	if s.eng.cfg.Commands == nil {
		return
	}
	if sw, ok := s.eng.cfg.Commands.(Sweeper); ok {
		if err := sw.Sweep(s.lease.Session); err != nil {
			s.eng.cfg.Log.Info("what a crash left of commands stays", "session", s.lease.Session, "error", err)
		}
	}
	gone := map[string]bool{}
	if n := len(s.state.Settled); n > 0 && s.state.Settled[n-1].Effect == session.EffectProcess {
		gone[s.state.Settled[n-1].ID] = true
	}
	if t := s.state.Turn; t != nil {
		for i := range t.Calls {
			c := &t.Calls[i]
			if c.Effect != session.EffectProcess || c.Left {
				continue
			}
			if c.Settled() {
				gone[c.ID] = true
			}
			if c.Attempt > 1 {
				gone[session.AttemptID(c.Base, c.Attempt-1)] = true
			}
		}
	}
	for _, task := range s.state.Tasks {
		delete(gone, task.Act)
	}
	for act := range gone {
		s.forget(act)
	}
}

func unknownContent(why string) []model.Part {
	return []model.Part{model.TextPart("Outcome unknown: " + why + ". It may or may not have taken effect; check before you repeat it.")}
}

// settleModel counts a call whose reply was never sealed. The same request goes again.
func (s *Session) settleModel(ctx context.Context, id string) error {
	m := s.state.ModelCall(id)
	usage, text := readSide(s.eng.cfg.SideDir, s.state.ID, id)
	s.recovered = append(s.recovered, Recovery{Kind: "act", ID: m.ID, Text: "interrupted model call: the same request is sent again"})
	err := s.append(ctx, engineActor, &session.ModelLost{
		Act: id, Model: s.modelName(), Reason: "interrupted", Lost: orDefault(usage, m.Estimate), Text: []byte(text),
	})
	if err == nil {
		removeSide(s.eng.cfg.SideDir, s.state.ID, id)
	}
	return err
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
		if errors.Is(err, tools.ErrChanged) {
			break // by somebody else, just now
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
func (s *Session) settleCommand(ctx context.Context, a session.Action, c *session.Call, p plan, cancel bool) error {
	t, ok := p.tool.(tools.Commander)
	if s.eng.cfg.Commands == nil {
		return fmt.Errorf("session %s: act %s: a command was started, and this program has no commands to ask for it", s.state.ID, a.ID)
	}
	if !ok || p.command == nil {
		return s.append(ctx, engineActor, &session.ToolUnknown{
			Act: a.ID, Reason: "tool is gone", Content: unknownContent("the tool " + c.Tool + ", which started it, is gone"),
		})
	}
	f := s.commandFlight(a.ID, p, t, *c.Start, true)
	s.flyOnce(a.ID, cancel, func(ctx context.Context) landing {
		st, err := s.eng.cfg.Commands.Settle(ctx, s.lease.Session, a.ID)
		switch {
		case ctx.Err() != nil && err != nil:
			return landing{}
		case err != nil:
			return landing{err: fmt.Errorf("act %s: %w", a.ID, err)}
		case st.Status == command.Absent && cancel:
			l := cancelledLanding(a.ID, nil)
			l.then = f.forget
			return l
		case st.Status == command.Absent:
			return f.outcome(st, false)
		case cancel && !f.start.Background:
			if err := s.eng.cfg.Commands.Kill(ctx, s.lease.Session, a.ID, command.ByUser); err != nil {
				return landing{err: fmt.Errorf("act %s: %w", a.ID, err)}
			}
			if st, err = s.eng.cfg.Commands.Wait(ctx, s.lease.Session, a.ID); err != nil {
				return landing{err: fmt.Errorf("act %s: %w", a.ID, err)}
			}
			return f.outcome(st, true)
		case st.Status == command.Lost && f.start.Background && !f.start.Moved:
			return f.outcome(st, false)
		}
		return f.collect(ctx)
	})
	s.flights[a.ID].moved, s.flights[a.ID].told = f.moved, f.start.Moved
	return nil
}
