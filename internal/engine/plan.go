package engine

import (
	"strings"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// plan is what a call would do, read from its input without doing anything.
type plan struct {
	tool    tools.Tool
	call    tools.Call
	effect  session.Effect
	ask     permission.Request
	command *tools.Command
	path    string        // resolved, of the file it would change
	pre     store.Digest  // of that file
	refusal *tools.Result // the input is wrong
}

// plan reads what a call would do. A tool of somebody's own that panics refuses the call.
func (s *world) plan(c *session.Call) (p plan, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			p.refusal, err = errorResult("The tool failed: panic: %v", cause), nil
		}
	}()
	return s.planned(c)
}

func (s *world) planned(c *session.Call) (plan, error) {
	p := plan{call: tools.Call{Act: c.ID, Name: c.Tool, Input: c.Input}}
	p.tool = tools.Find(s.eng.cfg.Tools, c.Tool)
	if p.tool == nil {
		p.refusal = errorResult("There is no tool named %q.", c.Tool)
		return p, nil
	}
	p.effect = p.tool.Spec().Effect
	p.ask = permission.Request{Tool: c.Tool}
	if r, ok := p.tool.(tools.Reader); ok && r.Reads(p.call) {
		p.effect, p.ask.Reads = session.EffectRead, true
	}
	if cmd, ok := p.tool.(tools.Commander); ok {
		if s.eng.cfg.Commands == nil {
			p.refusal = errorResult("C%s.", strings.TrimPrefix(s.eng.noCommands().Error(), "c"))
			return p, nil
		}
		p.command, p.refusal = cmd.Command(p.call)
		if p.refusal != nil {
			return p, nil
		}
		p.ask.Command, p.ask.Background = p.command.Script, p.command.Background
	}
	if g, ok := p.tool.(tools.Patterned); ok {
		p.ask.Pattern = g.Pattern(p.call)
	}
	if y, ok := p.tool.(tools.Typer); ok {
		p.ask.Command = y.Typed(p.call)
	}
	if o, ok := p.tool.(tools.TaskNamer); ok {
		p.ask.OwnTask = s.ownTasks(o.TaskIDs(p.call))
	}
	if err := s.planPath(&p); err != nil {
		return p, err
	}
	return p, nil
}

// planPath resolves the path that a call names, and the digest of a file that it would change.
func (s *world) planPath(p *plan) error {
	named, ok := p.tool.(tools.Paths)
	if !ok {
		return nil
	}
	if m, ok := p.tool.(tools.MayBePathless); ok && m.Pathless(p.call) {
		return nil
	}
	p.ask.RawPath = named.Path(p.call)
	abs := s.state.Cwd
	if p.ask.RawPath != "" {
		var err error
		if abs, err = tools.Absolute(s.env(), p.ask.RawPath); err != nil {
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
	p.ask.GitDir = s.inGitDirectory(path)
	p.pre, _, err = s.eng.cfg.Files.Digest(path)
	if err != nil {
		p.refusal = errorResult("Cannot read %s: %v", p.ask.RawPath, err)
	}
	return nil
}

// ownTasks reports whether all named tasks may be read, or steered, by this session. An id that names nothing is nobody's
// secret: the tool says so.
func (s *world) ownTasks(ids []string, ends bool) bool {
	for _, id := range ids {
		if t := s.state.Task(id); t != nil && ends && t.Session != "" {
			return false
		}
	}
	return true
}
