package run

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/internal/ui/chat"
)

// interactive opens a session on the terminal, and whatever its person goes to from there.
func interactive(parent context.Context, a *app.App, f *Flags) error {
	if err := f.drawable(a); err != nil {
		return err
	}
	set, err := settingsFor(parent, a, f)
	if notOne(err) && f.resume != "" && f.prompt == "" && f.cwd == "" && !f.attach && !f.nested { // a person looks for it
		f.words, f.resume = f.resume, Pick
		set, err = settingsFor(parent, a, f)
	}
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
	ctx, ended := parent, func() os.Signal { return nil }
	if !f.nested {
		ctx, ended = a.UntilSignal(parent, func() {})
	}
	s := &sitting{f: f, set: set, real: a, said: &saidLines{}, root: f.root}
	world := *a
	world.Stderr = s.said // nothing is written beside what the screen shows
	s.app = &world
	err = s.sit(ctx)
	for _, text := range s.said.take() {
		a.Note("%s", text)
	}
	if sig, ok := ended().(syscall.Signal); ok && ctx.Err() != nil {
		return app.Exit(app.ExitSignalled + int(sig))
	}
	return err
}

// drawable refuses what does not go with a screen, and a session's own command, whatever terminal it has made for itself:
// whoever sits there answers what all sessions ask, and goes on with any of them.
func (f *Flags) drawable(a *app.App) error {
	switch inside := a.Inside(); {
	case !screen.CanDraw(a):
		return &app.ExitError{Code: app.ExitUsage, Text: "a session on the screen needs a terminal that can be drawn on", Hint: "without one: perdure -p \"PROMPT\"; see perdure --help"}
	case inside != "":
		return &app.ExitError{Code: app.ExitFailed, Text: "a session on the screen is for a human, outside of sessions: " + inside, Hint: "run it in a terminal of your own; perdure -p \"PROMPT\" starts a new session"}
	case f.wait || f.format != output.Text || f.verbose:
		return app.UsageError("--wait, --output-format and --verbose go with -p")
	case f.prompt != "" && !f.cont && (f.resume == "" || f.resume == Pick):
		return &app.ExitError{
			Code: app.ExitUsage, Text: fmt.Sprintf("%q is no flag, and no prompt without -p", display.Line(f.prompt, display.MaxCell)),
			Hint: "perdure opens the screen, perdure -p \"PROMPT\" runs a prompt without it",
		}
	}
	return nil
}

// sitting is a person at a terminal, from one session to the next.
type sitting struct {
	f    *Flags
	set  settings.Loaded
	real *app.App // the world as it is
	app  *app.App // the world with the screen in it
	said *saidLines
	home *homes.Home
	last string // the session that was left last

	given *Flags // for a session that was there before; f is for new ones then
	of    string // that session; empty: it is not chosen yet
	root  string // the directory whose settings hold; empty: not looked at yet
}

// sit opens one session after the other.
func (s *sitting) sit(ctx context.Context) (err error) {
	if err := s.openHome(ctx); err != nil {
		return err
	}
	defer func() {
		if s.home == nil {
			return
		}
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

// openHome opens the home with what the settings say.
func (s *sitting) openHome(ctx context.Context) error {
	protect, err := protected(s.app, s.set)
	if err != nil {
		return err
	}
	set := s.set
	s.home, err = s.app.Open(ctx, homes.Config{
		Protect: protect, Limits: set.Bounds, Secrets: s.app.Secrets(set), Prices: set.PriceList(), Windows: set.Windows,
		Log: s.app.Logger(), Memory: app.Memory(set), MinSession: set.MinSession(), CommitKnowledge: set.Knowledge.Commit, Instructions: set.Context.Instructed(),
		Files: app.Files(set),
	})
	return err
}

// flags are those that hold for what is opened: what the person gave holds for the session that it was given for, or for
// new ones. Another session that they go to keeps what it has.
func (s *sitting) flags(t target) *Flags {
	switch {
	case t.id == "":
		return s.f
	case t.id == s.of:
		return s.given
	}
	f := s.f.none()
	f.resume, f.attach = t.id, t.attach
	if t.bypass {
		f.mode = string(permission.ModeBypass)
	}
	return f
}

// none are the flags of somebody who gave none.
func (f *Flags) none() *Flags {
	return &Flags{inline: f.inline, nested: f.nested, format: output.Text, handoff: "continue", Changed: func(string) bool { return false }}
}

// settle has the settings be those of the directory that the next session belongs to: another project has other rules.
func (s *sitting) settle(ctx context.Context, t target) error {
	root, err := s.app.Workdir()
	if t.id != "" {
		var st *session.State
		if st, err = s.home.State(ctx, t.id); err == nil {
			root = s.home.ProjectOf(st.Config.Root) // a copy is under the settings of what it is a copy of, as with -p
		}
		if cwd := s.flags(t).cwd; err == nil && cwd != "" {
			var dirs []string
			if dirs, err = directories("--cwd", []string{cwd}, s.app.Dir); err == nil {
				root = dirs[0]
			}
		}
	}
	if err != nil || root == s.root {
		return err
	}
	set, err := settings.Load(settings.UserFile(s.app.Getenv), root)
	if err != nil {
		return err
	}
	if err := s.home.Close(); err != nil {
		return err
	}
	s.home, s.set, s.root = nil, set, root
	s.f.tellSettings(s.app, set)
	return s.openHome(ctx)
}

// first is what the flags ask for.
func (s *sitting) first(ctx context.Context) (*target, error) {
	f := s.f
	if f.cont || f.resume != "" {
		s.given, s.f = f, f.none()
	}
	switch {
	case f.resume == Pick:
		return &target{pick: true, words: f.words}, nil
	case f.cont || f.resume != "":
		id, _, err := choose(ctx, s.app, s.home, f, s.set, "")
		if s.of = id; err == nil && !f.attach && !f.branched {
			err = resumeFiles(ctx, s.real, s.home, id, f)
		}
		return &target{id: id, attach: f.attach, prompt: f.prompt}, err
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

// config is what a screen needs.
func (s *sitting) config(ctx context.Context, t target) screen.Config {
	c := screen.Config{
		App: s.app, Prompt: t.prompt, Home: s.home, Set: s.set, ID: t.id, Attach: t.attach, Inline: s.f.inline, Notes: s.said.take,
		Create: func(ctx context.Context, prompt string) (string, error) {
			return create(ctx, s.app, s.home, s.f, s.set, prompt)
		},
		Options: func(ctx context.Context, id string, made bool) (homes.Options, error) {
			return s.options(ctx, id, s.flags(t), !made)
		},
		Run:    s.run,
		Want:   s.want,
		Answer: s.flags(t).answer, On: t.on, Nested: s.f.nested,
	}
	if t.id == "" {
		if agent, err := s.home.Agent(ctx, s.model()); err == nil {
			c.New = chat.Stand{Model: agent.Provider + "/" + agent.Model, Window: agent.Window, Mode: s.mode()}
		}
	}
	return c
}

// want sets the mode, or the model, of a session that is not made yet; an empty one stays as it is.
func (s *sitting) want(ctx context.Context, mode, model string) (chat.Stand, error) {
	if mode != "" {
		m, err := permission.ParseMode(mode)
		if err != nil {
			return chat.Stand{}, err
		}
		if m == permission.ModeBypass {
			return chat.Stand{}, fmt.Errorf("only the flag --dangerously-skip-permissions sets the mode %s", m)
		}
	}
	if model == "" {
		model = s.model()
	}
	agent, err := s.home.Agent(ctx, model)
	if err != nil {
		return chat.Stand{}, err
	}
	if s.f.model = model; mode != "" {
		s.f.mode = mode
	}
	return chat.Stand{Model: agent.Provider + "/" + agent.Model, Window: agent.Window, Mode: s.mode()}, nil
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
func (s *sitting) options(ctx context.Context, id string, f *Flags, resumed bool) (homes.Options, error) {
	opt, err := options(ctx, s.app, s.home, f, s.set)
	if err != nil {
		return opt.Options, err
	}
	known, err := settle(ctx, s.app, s.home, id, f, s.set, resumed, &opt)
	if err == nil {
		warnOfRules(s.app, opt.Rules, known)
	}
	return opt.Options, err
}

// run runs another command line of perdure beside the screen, and gives what it prints.
func (s *sitting) run(ctx context.Context, args ...string) (string, bool) {
	var out bytes.Buffer
	world := *s.app // whose work the screen shows
	world.Stdin, world.Stdout, world.Stderr = strings.NewReader(""), &out, &out
	world.Terminal, world.Screen, world.Asks, world.Signals = false, false, false, nil
	code := world.Self(ctx, &world, args)
	return out.String(), code == app.ExitDone
}

// farewell says how to go on with what was left, and what goes on by itself.
func (s *sitting) farewell(ctx context.Context) {
	if !s.f.nested {
		s.real.Hint("to go on: perdure -r %s", s.real.Call(ctx, s.home, s.last))
	}
	if st, err := s.home.State(ctx, s.last); err == nil {
		for _, command := range screen.RunsOn(st) {
			s.real.Note("still running, and collected when the session goes on: %s", command)
		}
	}
	sessions.TellTasks(ctx, s.real, s.home, s.last)
}
