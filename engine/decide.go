package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/tool"
)

// plan is what a call would do, read from its input without doing anything.
type plan struct {
	tool    tool.Tool
	call    tool.Call
	effect  session.Effect
	ask     permission.Request
	command *tool.Command
	path    string         // resolved, of the file it would change
	pre     session.Digest // of that file
	refusal *tool.Result   // the input is wrong
}

// decide asks the rules about a call and appends what they say: an allow or a deny, a request for approval, a
// question, or at once the refusal of a call that cannot be made.
func (s *Session) decide(ctx context.Context, a session.Action, c *session.Call) error {
	p, err := s.plan(c)
	if err != nil {
		return fmt.Errorf("session %s: act %s: %w", s.state.ID, a.ID, err)
	}
	if p.refusal != nil {
		return s.append(ctx, engineActor, refused(a.ID, *p.refusal))
	}
	bound := s.state.Binding(c)
	d := permission.Decide(s.policy(), p.ask)
	decided := &session.ToolDecided{Act: a.ID, Effect: p.effect, Decision: session.Decision{
		Allow: d.Effect == permission.Allow, Rule: d.Rule, Reason: d.Reason, Bound: bound, Pre: p.pre, Epoch: s.lease.Epoch,
	}}
	switch {
	case d.Effect == permission.Ask && c.Approval.Covers(bound, p.pre):
		decided.Decision.Allow, decided.Decision.Human = true, true
	case d.Effect == permission.Ask:
		offer := ""
		if !d.Always {
			offer = permission.Suggest(p.ask)
		}
		return s.append(ctx, engineActor, &session.ApprovalRequested{
			Act: a.ID, Effect: p.effect, Rule: d.Rule, Reason: d.Reason, Offer: offer, Bound: bound, Pre: p.pre, Cwd: s.state.Cwd,
		})
	}
	bodies := []session.Body{decided}
	if asker, ok := p.tool.(tool.Asker); ok && decided.Decision.Allow {
		q, refusal := asker.Question(p.call)
		if refusal != nil {
			return s.append(ctx, engineActor, refused(a.ID, *refusal))
		}
		bodies = append(bodies, &session.QuestionAsked{Act: a.ID, Question: *q})
	}
	return s.append(ctx, engineActor, bodies...)
}

func refused(act string, r tool.Result) *session.ToolFinished {
	fin := &session.ToolFinished{Act: act, Outcome: session.OutcomeError, Reason: "refused", Content: r.Content}
	if !r.IsError {
		fin.Outcome, fin.Reason = session.OutcomeOK, "nothing to do"
	}
	return fin
}

func errorResult(format string, args ...any) *tool.Result {
	return &tool.Result{IsError: true, Content: []session.Part{session.TextPart(fmt.Sprintf(format, args...))}}
}

// plan reads what a call would do.
func (s *Session) plan(c *session.Call) (plan, error) {
	p := plan{call: tool.Call{Act: c.ID, Name: c.Tool, Input: c.Input}}
	p.tool = tool.Find(s.eng.cfg.Tools, c.Tool)
	if p.tool == nil {
		p.refusal = errorResult("There is no tool named %q.", c.Tool)
		return p, nil
	}
	p.effect = p.tool.Spec().Effect
	p.ask = permission.Request{Tool: c.Tool}
	if cmd, ok := p.tool.(tool.Commander); ok {
		if s.eng.cfg.Commands == nil {
			p.refusal = errorResult("Commands cannot be run here.")
			return p, nil
		}
		p.command, p.refusal = cmd.Command(p.call)
		if p.refusal != nil {
			return p, nil
		}
		p.ask.Command, p.ask.Background = p.command.Script, p.command.Background
	}
	if g, ok := p.tool.(tool.Patterned); ok {
		p.ask.Pattern = g.Pattern(p.call)
	}
	if o, ok := p.tool.(tool.TaskNamer); ok {
		p.ask.OwnTask = s.ownTasks(o.TaskIDs(p.call))
	}
	if err := s.planPath(&p); err != nil {
		return p, err
	}
	return p, nil
}

// planPath resolves the path that a call names, and the digest of a file that it would change.
func (s *Session) planPath(p *plan) error {
	named, ok := p.tool.(tool.Paths)
	if !ok {
		return nil
	}
	p.ask.RawPath = named.Path(p.call)
	abs := s.state.Cwd
	if p.ask.RawPath != "" {
		var err error
		if abs, err = tool.Absolute(s.env(), p.ask.RawPath); err != nil {
			p.refusal = errorResult("%s: %v", p.ask.RawPath, err)
			return nil
		}
	}
	path, err := s.eng.cfg.Files.Resolve(abs)
	if err != nil {
		p.refusal = errorResult("Cannot resolve %s: %v", p.ask.RawPath, err)
		return nil
	}
	p.ask.Path, p.path = path, path
	if p.effect != session.EffectEdit {
		return nil
	}
	p.pre, _, err = s.eng.cfg.Files.Digest(path)
	if err != nil {
		p.refusal = errorResult("Cannot read %s: %v", p.ask.RawPath, err)
	}
	return nil
}

// ownTasks tells whether all named tasks may be read, or ended, by this session. An id that names nothing is nobody's
// secret: the tool says so.
func (s *Session) ownTasks(ids []string, ends bool) bool {
	for _, id := range ids {
		if t := s.state.Task(id); t != nil && ends && t.Session != "" {
			return false
		}
	}
	return true
}

// policy is what decisions depend on, from the state alone but for the machine's protected paths.
func (s *Session) policy() permission.Policy {
	st := s.state
	p := permission.Policy{
		Mode: permission.Mode(st.Config.Mode), Root: st.Config.Root, Cwd: st.Cwd, Dirs: st.Directories,
		Protected: s.eng.cfg.Protect, HomeDir: s.eng.cfg.UserHome,
	}
	if s.eng.cfg.Home != "" {
		p.Protected = append(p.Protected[:len(p.Protected):len(p.Protected)], s.eng.cfg.Home)
	}
	for _, r := range st.Permissions.Rules {
		p.Rules = append(p.Rules, permission.Rule{Effect: permission.Effect(r.Effect), Text: r.Text, Source: r.Source})
	}
	for _, g := range st.Permissions.Grants {
		p.Grants = append(p.Grants, permission.Rule{Effect: permission.Allow, Text: g.Rule, Source: permission.SourceSession})
	}
	return p
}

// env is the world as a tool sees it now.
func (s *Session) env() tool.Env {
	view, policy := s.state.View(), s.policy()
	return tool.Env{
		Cwd: view.Cwd, Home: s.eng.cfg.UserHome, State: view, Files: s.eng.cfg.Files,
		Tasks: tasks{s: s, view: view}, Hidden: func(abs string) bool { return permission.Hidden(policy, abs) },
	}
}

// environ is what a command starts from: the process's environment, the session's changes to it, and ours.
func (s *Session) environ() ([]string, error) {
	vars := map[string]string{}
	for _, kv := range s.eng.cfg.Environ {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	for k, v := range s.state.Env {
		if v == nil {
			delete(vars, k)
			continue
		}
		vars[k] = *v
	}
	vars["PERDURE_SESSION_ID"] = s.state.ID
	if s.eng.cfg.Home != "" {
		vars["PERDURE_HOME"] = s.eng.cfg.Home
	}
	if s.eng.cfg.TempDir != nil {
		dir, err := s.eng.cfg.TempDir(s.state.ID)
		if err != nil {
			return nil, fmt.Errorf("temporary directory: %w", err)
		}
		vars["TMPDIR"] = dir
	}
	env := make([]string, 0, len(vars))
	for k, v := range vars {
		env = append(env, k+"="+v)
	}
	slices.Sort(env) // the same command is prepared with the same bytes
	return env, nil
}
