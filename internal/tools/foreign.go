package tools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/tool"
)

// Of gives a program's tools the form that the engine knows. What [Public] gave comes back as it was.
func Of(list []tool.Tool) []Tool {
	out := make([]Tool, len(list))
	for i, t := range list {
		out[i] = of(t)
	}
	return out
}

func of(t tool.Tool) Tool {
	switch t := t.(type) {
	case nil:
		return nil
	case public:
		return t.Tool
	case tool.Commander:
		return foreignCommander{foreign{t, session.EffectProcess}, t}
	case tool.Changer:
		return foreignChanger{foreign{t, session.EffectEdit}, t}
	case tool.Asker:
		return foreignAsker{foreign{t, session.EffectQuestion}, t}
	case tool.Runner:
		if p, ok := t.(tool.Paths); ok {
			return foreignReader{foreignRunner{foreign{tool: t}, t}, p}
		}
		return foreignRunner{foreign{tool: t}, t}
	}
	return foreign{tool: t}
}

// Public gives tools of this package the form that programs know, to stand beside their own.
func Public(list []Tool) []tool.Tool {
	out := make([]tool.Tool, len(list))
	for i, t := range list {
		out[i] = public{t}
	}
	return out
}

type public struct{ Tool }

func (p public) Spec() tool.Spec {
	s := p.Tool.Spec()
	return tool.Spec{Name: s.Name, Description: s.Description, Schema: s.Schema, ReadOnly: s.Effect == session.EffectRead, Idempotent: s.Idempotent}
}

// foreign is a tool of a program's own.
type foreign struct {
	tool   tool.Tool
	effect session.Effect // empty: that of a Runner, as it says
}

func (f foreign) Spec() Spec {
	s := f.tool.Spec()
	out := Spec{Name: s.Name, Description: s.Description, Schema: s.Schema, Effect: f.effect}
	switch {
	case f.effect != "":
	case s.ReadOnly:
		out.Effect = session.EffectRead
	default:
		out.Effect, out.Idempotent = session.EffectExternal, s.Idempotent
	}
	return out
}

func foreignEnv(env Env) tool.Env {
	out := tool.Env{Cwd: env.Cwd, Home: env.Home, Target: env.Target, Hide: env.Replace, Hidden: env.Hidden}
	if env.State != nil {
		out.Session = env.State.ID
	}
	if out.Hide == nil {
		out.Hide = func(b []byte) []byte { return b }
	}
	if out.Hidden == nil {
		out.Hidden = func(string) bool { return false }
	}
	return out
}

func ofResult(r tool.Result) Result {
	return Result{Content: r.Content, IsError: r.IsError, Full: r.Full}
}

func ofRefusal(r *tool.Result) *Result {
	if r == nil {
		return nil
	}
	out := ofResult(*r)
	return &out
}

type foreignRunner struct {
	foreign
	runner tool.Runner
}

func (f foreignRunner) Run(ctx context.Context, c Call, env Env) (Result, error) {
	r, err := f.runner.Run(ctx, tool.Call(c), foreignEnv(env))
	return ofResult(r), err
}

type foreignReader struct {
	foreignRunner
	paths tool.Paths
}

func (f foreignReader) Path(c Call) string { return f.paths.Path(tool.Call(c)) }

type foreignChanger struct {
	foreign
	changer tool.Changer
}

func (f foreignChanger) Path(c Call) string { return f.changer.Path(tool.Call(c)) }

// Prepare reads the file and asks what it is to hold. A call that names no path is for the tool to refuse.
func (f foreignChanger) Prepare(ctx context.Context, c Call, env Env) (*session.Edit, []byte, *Result, error) {
	var old []byte
	var info FileInfo
	seen := foreignEnv(env)
	if f.Path(c) != "" {
		var err error
		if seen.Target, err = env.resolve(f.Path(c)); err != nil {
			return nil, nil, nil, err
		}
		var refusal *Result
		if old, info, refusal = content(env, seen.Target); refusal != nil {
			return nil, nil, refusal, nil
		}
	}
	ch, refusal, err := f.changer.Change(ctx, tool.Call(c), seen, old)
	var r Result
	switch {
	case err != nil:
		return nil, nil, nil, err
	case refusal != nil:
		return nil, nil, ofRefusal(refusal), nil
	case ch == nil || seen.Target == "":
		r = failure("the tool says neither what to change nor why not")
	case len(ch.Content) > maxEdit:
		r = failure("%s would have %d bytes, at most %d are allowed", seen.Target, len(ch.Content), maxEdit)
	case info.Exists && bytes.Equal(old, ch.Content):
		r = success("%s already has exactly this content; nothing was written", seen.Target)
	default:
		edit := change(seen.Target, info, old, ch.Content)
		edit.Result = ch.Said
		return edit, ch.Content, nil, nil
	}
	return nil, nil, &r, nil
}

// content reads a file that is to be changed: nil if it is not there, else not nil.
func content(env Env, path string) ([]byte, FileInfo, *Result) {
	old, info, err := env.Files.Read(path, maxEdit+1)
	var r Result
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, info, nil
	case err != nil:
		r = fileFailure(path, err)
	case info.Dir:
		r = failure("%s is a directory", path)
	case len(old) > maxEdit:
		r = failure("%s is over %d bytes, too large to be changed", path, maxEdit)
	default:
		return append([]byte{}, old...), info, nil
	}
	return nil, info, &r
}

type foreignCommander struct {
	foreign
	commander tool.Commander
}

// Command takes what the tool names as the input of Bash would be taken.
func (f foreignCommander) Command(c Call) (*Command, *Result) {
	cmd, refusal := f.commander.Command(tool.Call(c))
	if refusal != nil {
		return nil, ofRefusal(refusal)
	}
	var r Result
	switch {
	case cmd == nil || cmd.Script == "":
		r = failure("the tool names no command")
	case len(cmd.Script) > maxScript || strings.IndexByte(cmd.Script, 0) >= 0:
		r = failure("the tool's command holds a NUL byte, or more than %d bytes", maxScript)
	case cmd.TimeoutMS < 0:
		r = failure("the tool's timeout is negative")
	default:
		out := &Command{Script: cmd.Script, Description: cmd.Description, Background: cmd.Background, TimeoutMS: cmd.TimeoutMS}
		switch {
		case out.Background:
			out.TimeoutMS = 0
		case out.TimeoutMS == 0:
			out.TimeoutMS = DefaultTimeoutMS
		}
		return out, nil
	}
	return nil, &r
}

// Result words the outcome as Bash does.
func (foreignCommander) Result(cmd Command, st command.State, out Output) Result {
	return bash{}.Result(cmd, st, out)
}

type foreignAsker struct {
	foreign
	asker tool.Asker
}

func (f foreignAsker) Question(c Call) (*session.Question, *Result) {
	q, refusal := f.asker.Question(tool.Call(c))
	switch {
	case refusal != nil:
		return nil, ofRefusal(refusal)
	case q == nil:
		r := failure("the tool asks nothing")
		return nil, &r
	}
	return (*session.Question)(q), nil
}
