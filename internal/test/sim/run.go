package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Bounds of a run: processes, and simulated time.
const (
	maxLives = 400
	maxTime  = 48 * time.Hour
)

// errAgain ends a process that did nothing wrong: the next one goes on.
var errAgain = errors.New("go on in another process")

// Run lives one process after the other until every session is at the end of its script.
func (w *World) Run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	for range maxLives {
		p := w.boot(ctx)
		err := w.live(p)
		w.mu.Lock()
		dead := p.dead
		w.mu.Unlock()
		p.cancel()
		switch {
		case dead:
			if w.cfg.Restart != nil {
				<-time.After(w.cfg.Restart()) // simulated time
			}
			continue
		case errors.Is(err, errAgain):
			_ = p.disk.Close()
			continue
		case err != nil:
			w.faultf("the engine gave up: %v", err)
		}
		p.disk.Kill()
		return
	}
	w.faultf("no end after %d processes", maxLives)
}

// live is one process: it opens each session and works on it.
func (w *World) live(p *process) error {
	eng, err := engine.New(w.world(p, &disk{Store: p.disk, p: p}))
	if err != nil {
		return err
	}
	if !w.there("main") {
		if _, err := eng.Create(p.ctx, w.spec()); err != nil {
			return err
		}
	}
	for i := 0; ; i++ {
		w.mu.Lock()
		if i >= len(w.humans) {
			w.mu.Unlock()
			return nil
		}
		h := w.humans[i]
		w.mu.Unlock()
		if err := w.work(p, eng, h); err != nil {
			return err
		}
	}
}

func (w *World) world(p *process, s store.Store) engine.Config {
	ids := 0
	all := append(tools.Builtin(), deploy{p}, ping{p})
	if w.cfg.EagerShim {
		all[0] = eager{Commander: all[0].(tools.Commander), p: p}
	}
	var keeps engine.Captures
	if w.script.Keeps {
		keeps = keeper{p}
	}
	return engine.Config{
		Captures: keeps, Store: s, Files: files{p}, Commands: commands{p}, Tools: all,
		Provider: func(string) (modelapi.Provider, error) { return provider{p}, nil },
		Environ:  []string{"PATH=/bin", "LANG=C"}, Home: "/home", UserHome: "/users/ann",
		Host: "sim", BootID: w.bootID(), PID: w.lives, Build: "sim",
		NewID:  func() string { ids++; return fmt.Sprintf("id-%d-%d", w.lives, ids) },
		Jitter: func() float64 { return 0.5 },
	}
}

func (w *World) spec() engine.Spec {
	window := w.script.Window
	if window == 0 {
		window = 1 << 30
	}
	return engine.Spec{
		ID: "main", Owner: "ann", Cwd: "/w", Mode: permission.ModeAcceptEdits,
		Agent: session.Agent{
			Name: "sim", Provider: "sim", Model: "sim-1", System: "You are simulated.", MaxTokens: 4096, Window: window,
			Price: &model.Price{Input: 1000, Output: 5000, CacheRead: 100, CacheWrite: 1250},
		},
	}
}

// rules are what the session runs under.
var rules = []session.Rule{
	{Effect: "allow", Text: "Bash(run:*)", Source: "flag"},
	{Effect: "allow", Text: "Deploy", Source: "flag"},
	{Effect: "allow", Text: "Ping", Source: "flag"},
	{Effect: "deny", Text: "Bash(wipe:*)", Source: "flag"},
}

// maxOpenings bounds how often one life opens a session: what does not end by then never will.
const maxOpenings = 50

// work opens a session and goes on until its human is done with it.
func (w *World) work(p *process, eng *engine.Engine, h *human) error {
	w.mu.Lock()
	p.session = h.session
	w.mu.Unlock()
	opt := &engine.Options{}
	for n := 0; opt != nil; n++ {
		if n == maxOpenings {
			return fmt.Errorf("session %s was opened %d times in one life and is not done", h.session, n)
		}
		opt.Rules, opt.SetRules, opt.Actor = rules, true, person
		s, err := eng.Open(p.ctx, h.session, *opt)
		if err == nil && w.cfg.TellsAgain {
			err = w.tellAgain(p, s)
		}
		if err != nil {
			return err
		}
		opt, err = w.turns(p, eng, s, h)
		if closed := s.Close(p.ctx, "done"); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turns runs an open session. Options come back when it is to be opened again.
func (w *World) turns(p *process, eng *engine.Engine, s *engine.Session, h *human) (*engine.Options, error) {
	for n := 1; ; n++ {
		if err := s.Run(p.ctx); err != nil {
			return nil, err
		}
		if len(s.State().Awaits) > 0 {
			if err := s.RunWaiting(p.ctx, nil); err != nil {
				return nil, err
			}
		}
		wish, acted := h.look(s.State())
		switch {
		case wish.done:
			return nil, p.check()
		case wish.options != nil:
			return wish.options, p.check()
		case wish.reboot:
			w.reboot(p)
			return nil, ErrDead
		case wish.fork != "":
			if _, _, err := eng.Fork(p.ctx, h.session, 0, wish.fork, ""); err != nil {
				return nil, err
			}
		case !acted:
			return nil, errors.New("nothing to do, and nothing done")
		case n%4 == 0:
			return nil, errAgain
		}
		w.adopt()
	}
}

// adopt gives every fork that is on the disk its human.
func (w *World) adopt() {
	for _, id := range w.script.Forks {
		known := false
		for _, h := range w.humans {
			known = known || h.session == id.Turn
		}
		if !known && w.there(id.Turn) {
			w.mu.Lock()
			w.humans = append(w.humans, &human{w: w, session: id.Turn, prompts: []Prompt{{Turn: id.Turn + "/" + id.Fork}}, undo: map[string]int64{}})
			w.mu.Unlock()
		}
	}
}
