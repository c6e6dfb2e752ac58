package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/store"
)

// interactive opens a session on the terminal, and whatever its person goes to from there.
func interactive(parent context.Context, a *app.App, f *Flags) error {
	if err := f.drawable(a); err != nil {
		return err
	}
	set, err := settingsFor(parent, a, f)
	if err != nil {
		return err
	}
	if changed, err := a.AskTrust(parent, set); err != nil {
		return err
	} else if changed {
		if set, err = settingsFor(parent, a, f); err != nil {
			return err
		}
	}
	f.tellSettings(a, set)
	if err := askConsent(parent, a, f, set); err != nil {
		return err
	}
	protect, err := protected(a, set)
	if err != nil {
		return err
	}
	ctx, ended := parent, func() os.Signal { return nil }
	if !f.nested {
		ctx, ended = a.UntilSignal(parent, func() {})
	}
	s := &sitting{f: f, set: set, real: a, said: &lines{}}
	world := *a
	world.Stderr = s.said // nothing is written beside what the screen shows
	s.app = &world
	err = s.sit(ctx, homes.Config{
		Protect: protect, Limits: set.Bounds, Secrets: a.Secrets(set), Prices: set.PriceList(), Windows: set.Windows,
		Log: world.Logger(), Memory: app.Memory(set), MinSession: set.MinSession(), CommitKnowledge: set.Knowledge.Commit, Instructions: set.Context.Instructed(),
	})
	for _, text := range s.said.take() {
		a.Note("%s", text)
	}
	if sig, ok := ended().(syscall.Signal); ok && ctx.Err() != nil {
		return app.Exit(app.ExitSignalled + int(sig))
	}
	return err
}

// drawable refuses what does not go with a screen.
func (f *Flags) drawable(a *app.App) error {
	switch {
	case !screen.CanDraw(a):
		return &app.ExitError{Code: app.ExitUsage, Text: "a session on the screen needs a terminal that can be drawn on", Hint: "without one: perdure -p \"PROMPT\"; see perdure --help"}
	case f.wait || f.format != "text" || f.verbose:
		return app.UsageError("--wait, --output-format and --verbose go with -p")
	}
	return nil
}

// sitting is a person at a terminal, from one session to the next.
type sitting struct {
	f    *Flags
	set  settings.Loaded
	real *app.App // the world as it is
	app  *app.App // the world with the screen in it
	said *lines
	home *homes.Home
	last string // the session that was left last
}

// target is what is opened next.
type target struct {
	id     string // empty: a new session
	attach bool
	pick   bool
}

// sit opens a home, and one session after the other.
func (s *sitting) sit(ctx context.Context, cfg homes.Config) (err error) {
	if s.home, err = s.app.Open(ctx, cfg); err != nil {
		return err
	}
	defer func() {
		if s.last != "" {
			s.farewell(context.WithoutCancel(ctx))
		}
		if cerr := s.home.Close(); err == nil {
			err = cerr
		}
	}()
	s.app.WarnOfLosses(ctx, s.home)
	next, err := s.first(ctx)
	for err == nil && next != nil {
		next, err = s.open(ctx, *next)
	}
	return err
}

// first is what the flags ask for.
func (s *sitting) first(ctx context.Context) (*target, error) {
	f := s.f
	switch {
	case f.resume == Pick:
		return &target{pick: true}, nil
	case f.cont || f.resume != "":
		id, _, err := choose(ctx, s.app, s.home, f, s.set, "")
		return &target{id: id, attach: f.attach}, err
	}
	return &target{}, s.ready(ctx)
}

// ready finds out before anything is typed whether a new session could be made: which model it has, and whether it goes
// on from a handoff.
func (s *sitting) ready(ctx context.Context) error {
	if _, err := s.home.Agent(ctx, s.model()); err != nil {
		return err
	}
	dir, err := s.app.Workdir()
	if err != nil {
		return err
	}
	fresh, err := startsFresh(ctx, s.real, s.f, s.set, dir)
	if s.f.handoff = "continue"; fresh {
		s.f.handoff = "ignore"
	}
	s.set.Knowledge.Handoff = s.f.handoff
	return err
}

func (s *sitting) model() string {
	if s.f.model != "" {
		return s.f.model
	}
	return s.set.Model
}

// open shows one session, and says where to go from it; nil: nowhere.
func (s *sitting) open(ctx context.Context, t target) (*target, error) {
	if t.pick {
		return s.pick(ctx)
	}
	r, id, err := screen.Open(ctx, s.config(ctx, t))
	if id != "" {
		s.last = id
	}
	var held *store.HeldError
	switch {
	case errors.As(err, &held) && t.id != "":
		what, err := screen.Held(ctx, s.app, t.id, held)
		if err != nil {
			return nil, err
		}
		return s.chosen(ctx, picker.ChosenMsg{ID: t.id, What: what})
	case err != nil:
		return nil, err
	case r.Goal == nil:
		return nil, nil
	case r.Goal.Fresh:
		return &target{}, s.ready(ctx)
	case r.Goal.Fork:
		return s.chosen(ctx, picker.ChosenMsg{ID: r.Goal.Session, What: picker.Fork})
	case r.Goal.Session == "":
		return &target{pick: true}, nil
	}
	id, err = s.app.Resolve(ctx, s.home, r.Goal.Session)
	return &target{id: id}, err
}

func (s *sitting) pick(ctx context.Context) (*target, error) {
	msg, err := screen.Pick(ctx, s.app, s.home)
	if err != nil {
		return nil, err
	}
	return s.chosen(ctx, msg)
}

// chosen is what a person chose to do with a session.
func (s *sitting) chosen(ctx context.Context, msg picker.ChosenMsg) (*target, error) {
	switch msg.What {
	case picker.Leave:
		return nil, nil
	case picker.Continue:
	case picker.Attach:
		return &target{id: msg.ID, attach: true}, nil
	case picker.TakeOver:
		return &target{id: msg.ID}, s.home.Takeover(ctx, msg.ID)
	case picker.Fork:
		name, err := sessions.ForkName(ctx, s.home, msg.ID, "")
		if err != nil {
			return nil, err
		}
		child, _, err := s.home.Fork(ctx, msg.ID, 0, "", name)
		return &target{id: child}, err
	case picker.Handoff:
		if _, err := s.home.WriteHandoff(ctx, msg.ID, false); err != nil {
			return nil, err
		}
		s.set.Knowledge.Handoff, s.f.handoff = "continue", "continue"
		return &target{}, nil
	}
	return &target{id: msg.ID}, nil
}

// config is what a screen needs.
func (s *sitting) config(ctx context.Context, t target) screen.Config {
	c := screen.Config{
		App: s.app, Home: s.home, Set: s.set, ID: t.id, Attach: t.attach, Inline: s.f.inline, Notes: s.said.take,
		Create: func(ctx context.Context, prompt string) (string, error) {
			return create(ctx, s.app, s.home, s.f, s.set, prompt)
		},
		Options: func(ctx context.Context, id string, made bool) (homes.Options, error) {
			return s.options(ctx, id, !made)
		},
		Run:    s.run,
		Answer: s.f.answer,
	}
	if t.id == "" {
		if agent, err := s.home.Agent(ctx, s.model()); err == nil {
			c.New = chat.Stand{Model: agent.Provider + "/" + agent.Model, Window: agent.Window, Mode: s.mode()}
		}
	}
	return c
}

func (s *sitting) mode() string {
	for _, mode := range []string{s.f.mode, s.set.Mode} {
		if mode != "" {
			return mode
		}
	}
	return string(permission.ModeDefault)
}

// options are what a session is held with.
func (s *sitting) options(ctx context.Context, id string, resumed bool) (homes.Options, error) {
	opt, err := options(ctx, s.app, s.home, s.f, s.set)
	if err != nil {
		return opt.Options, err
	}
	known, err := settle(ctx, s.app, s.home, id, s.f, s.set, resumed, &opt)
	if err == nil {
		warnOfRules(s.app, opt.Rules, known)
	}
	return opt.Options, err
}

// run runs another command line of perdure beside the screen, and gives what it prints.
func (s *sitting) run(ctx context.Context, args ...string) (string, bool) {
	var out bytes.Buffer
	world := *s.real
	world.Stdin, world.Stdout, world.Stderr = strings.NewReader(""), &out, &out
	world.Terminal, world.Screen, world.Asks, world.Signals = false, false, false, nil
	code := world.Self(ctx, &world, args)
	return out.String(), code == app.ExitDone
}

// farewell says how to go on with what was left, and what goes on by itself.
func (s *sitting) farewell(ctx context.Context) {
	if !s.f.nested {
		s.real.Hint("to go on: perdure -r %s", s.last)
	}
	sessions.TellTasks(ctx, s.real, s.home, s.last)
}

// lines are what commands say beside a screen: they are shown in it.
type lines struct {
	mu   sync.Mutex
	part string
	all  []string
}

// maxLines bounds what is kept until it is shown.
const maxLines = 200

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part += string(b)
	for {
		line, rest, whole := strings.Cut(l.part, "\n")
		if !whole {
			return len(b), nil
		}
		if l.part = rest; len(l.all) < maxLines {
			l.all = append(l.all, strings.TrimPrefix(strings.TrimSpace(line), "perdure: "))
		}
	}
}

// take gives what was said since.
func (l *lines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.all
	l.all = nil
	return out
}
