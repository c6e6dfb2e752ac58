package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// execute logs the intent of an allowed call and starts its effect.
func (s *Session) execute(ctx context.Context, a session.Action, c *session.Call) error {
	p, err := s.plan(c)
	if err != nil {
		return fmt.Errorf("session %s: act %s: %w", s.state.ID, a.ID, err)
	}
	if p.refusal != nil {
		return s.append(ctx, engineActor, refused(a.ID, *p.refusal))
	}
	if s.target(p) != c.Decision.Target {
		return s.decide(ctx, a, c) // a link leads elsewhere now
	}
	start := session.Start{Epoch: s.lease.Epoch, BootID: s.eng.cfg.BootID, Time: s.eng.cfg.Now().UnixMilli()}
	if p.effect == session.EffectExternal {
		start.About = s.about(c)
	}
	switch t := p.tool.(type) {
	case tools.Commander:
		return s.startCommand(ctx, a, p, t, start)
	case tools.Editor:
		return s.startEdit(ctx, a, p, t, c, start)
	case tools.Runner:
		if err := s.append(ctx, engineActor, &session.ToolStarted{Act: a.ID, Start: start}); err != nil {
			return err
		}
		env := s.env()
		env.Target, env.Agreed = p.path, c.Decision.Human
		s.fly(a.ID, func(ctx context.Context) landing { return s.runTool(ctx, t, p.call, env) })
		return nil
	}
	return s.append(ctx, engineActor, refused(a.ID, *errorResult("Tool %s cannot be run.", c.Tool)))
}

// about is what a call is about, without secrets.
func (s *Session) about(c *session.Call) string {
	return session.About(s.eng.cfg.Secrets.Replace(c.Input))
}

// runTool lets a Runner do its work.
func (s *Session) runTool(ctx context.Context, t tools.Runner, c tools.Call, env tools.Env) landing {
	r, crash, err := runSafely(ctx, t, c, env)
	free := r.Release
	l := s.toolLanding(ctx, t, c, r, crash, err)
	l.free = free
	return l
}

// toolLanding is what came of a Runner's work.
func (s *Session) toolLanding(ctx context.Context, t tools.Runner, c tools.Call, r tools.Result, crash bool, err error) landing {
	effect := t.Spec().Effect
	switch {
	case crash && effect == session.EffectExternal && !t.Spec().Idempotent:
		return landing{actor: engineActor, bodies: []session.Body{&session.ToolUnknown{
			Act: c.Act, Reason: err.Error(), Content: unknownContent("the tool broke down while it ran: " + err.Error()),
		}}}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errCancelled) && err != nil && effect == session.EffectExternal && !t.Spec().Idempotent:
		return landing{actor: engineActor, bodies: []session.Body{&session.ToolUnknown{
			Act: c.Act, Reason: "cancelled", Content: unknownContent("the user cancelled it while it ran"),
		}}}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errCancelled) && (err != nil || effect != session.EffectExternal):
		return cancelledLanding(c.Act, nil)
	case err == nil && effect == session.EffectExternal: // what was done outside is told, whatever happens here
	case ctx.Err() != nil:
		return landing{}
	case err != nil:
		r = *errorResult("The tool failed: %v", err)
	}
	return s.finished(c, r)
}

// runSafely runs a tool of somebody's own: one that panics has failed.
func runSafely(ctx context.Context, t tools.Runner, c tools.Call, env tools.Env) (r tools.Result, crash bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			r, crash, err = tools.Result{}, true, fmt.Errorf("panic: %v", cause)
		}
	}()
	r, err = t.Run(ctx, c, env)
	return r, false, err
}

// finished words a tool's result as the events to append.
func (s *Session) finished(c tools.Call, r tools.Result) landing {
	fin := &session.ToolFinished{Act: c.Act, Outcome: session.OutcomeOK, Content: s.redact(r.Content)}
	r.Events = slices.DeleteFunc(r.Events, func(b session.Body) bool {
		seen, ok := b.(*session.FileSeen)
		return ok && s.holds(seen.File.Path) // the log cannot keep the path: the file is as if it had not been seen
	})
	for i, b := range r.Events {
		if a, ok := b.(*session.ArtifactAdded); ok {
			own := *a
			own.Artifact.Name, own.Artifact.Note = s.hide(a.Artifact.Name), s.hide(a.Artifact.Note)
			r.Events[i] = &own
		}
	}
	if r.IsError {
		fin.Outcome = session.OutcomeError
	}
	return landing{actor: store.Actor{Type: store.ActorTool, ID: c.Name}, bodies: append(slices.Clone(r.Events), fin)}
}

func cancelledLanding(act string, content []model.Part) landing {
	content = append(content, model.TextPart("Cancelled by user."))
	return landing{actor: engineActor, bodies: []session.Body{
		&session.ToolFinished{Act: act, Outcome: session.OutcomeCancelled, Content: content},
	}}
}

func (s *Session) redact(parts []model.Part) []model.Part {
	out := slices.Clone(parts)
	for i := range out {
		if out[i].Type == model.BlockText {
			out[i].Data = s.eng.cfg.Secrets.Replace(out[i].Data)
		}
	}
	return out
}

// hide replaces known secrets in a text.
func (s *Session) hide(text string) string { return string(s.eng.cfg.Secrets.Replace([]byte(text))) }

// holds reports whether a text holds a known secret.
func (s *Session) holds(text string) bool {
	return string(s.eng.cfg.Secrets.Replace([]byte(text))) != text
}

// startCommand logs the intent, starts the command under its shim and, in the foreground, waits for it.
func (s *Session) startCommand(ctx context.Context, a session.Action, p plan, t tools.Commander, start session.Start) error {
	env, err := s.environ()
	if err != nil {
		return fmt.Errorf("session %s: act %s: %w", s.state.ID, a.ID, err)
	}
	start.Command, start.Background, start.TaskSettings = p.command.Script, p.command.Background, p.command.Settings
	start.Limits = s.eng.cfg.Limits
	if start.Background {
		start.Task = s.nextTask()
	}
	spec := command.Spec{
		Version: 1, Session: s.state.ID, Act: a.ID, Script: p.command.Script, Cwd: s.state.Cwd, Env: env,
		TimeoutMS: p.command.TimeoutMS, Capture: !p.command.Background,
	}
	applySettings(&spec, start.TaskSettings)
	if err := s.eng.cfg.Commands.Prepare(ctx, spec); err != nil {
		return s.append(ctx, engineActor, refused(a.ID, *errorResult("The command could not be prepared: %v", err)))
	}
	if err := s.append(ctx, engineActor, &session.ToolStarted{Act: a.ID, Start: start}); err != nil {
		return err
	}
	f := s.commandFlight(a.ID, p, t, start, false)
	s.fly(a.ID, func(ctx context.Context) landing {
		if err := s.eng.cfg.Commands.Start(ctx, spec); err != nil {
			return f.notStarted(ctx, err)
		}
		return f.collect(ctx)
	})
	s.flights[a.ID].moved = f.moved
	return nil
}

// mergeEnv adds a command's changes of the environment to the session's. What is set back to what commands start
// from anyway stays listed: it costs nothing and says what happened.
func mergeEnv(old, delta command.EnvDelta) command.EnvDelta {
	if len(delta) == 0 {
		return nil
	}
	out := maps.Clone(old)
	if out == nil {
		out = command.EnvDelta{}
	}
	maps.Copy(out, delta)
	return out
}
