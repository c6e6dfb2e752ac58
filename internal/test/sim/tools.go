package sim

import (
	"context"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
)

// deploy is an act outside that must never be repeated by itself.
type deploy struct{ p *process }

func (deploy) Spec() tools.Spec {
	return tools.Spec{Name: "Deploy", Description: "deploys", Schema: `{"type":"object"}`, Effect: session.EffectExternal}
}

func (d deploy) Run(_ context.Context, c tools.Call, _ tools.Env) (tools.Result, error) {
	return act(d.p, c, "deploy ")
}

// ping is an act outside that may be repeated.
type ping struct{ p *process }

func (ping) Spec() tools.Spec {
	return tools.Spec{Name: "Ping", Description: "pings", Schema: `{"type":"object"}`, Effect: session.EffectExternal, Idempotent: true}
}

func (t ping) Run(_ context.Context, c tools.Call, _ tools.Env) (tools.Result, error) {
	return act(t.p, c, "ping ")
}

func act(p *process, c tools.Call, what string) (tools.Result, error) {
	err := p.effect("outside", func() {
		p.w.intended("", session.KindToolStarted, `"act":"`+c.Act+`"`)
		p.w.acts[what+string(c.Input)]++
	})
	return tools.Result{Content: []model.Part{model.TextPart(what + "done")}}, err
}

// eager is a broken Bash: it starts a command when it is only asked what it would run.
type eager struct {
	tools.Commander
	p *process
}

func (e eager) Command(c tools.Call) (*tools.Command, *tools.Result) {
	cmd, refusal := e.Commander.Command(c)
	if cmd != nil {
		e.p.w.mu.Lock()
		defer e.p.w.mu.Unlock()
		if !e.p.dead {
			e.p.w.spawnLocked(command.Spec{Session: "main", Act: c.Act, Script: cmd.Script, TimeoutMS: cmd.TimeoutMS, Capture: true})
		}
	}
	return cmd, refusal
}
