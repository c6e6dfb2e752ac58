// Package run is perdure -p: it puts a prompt together, opens or finds its session, brings it what flags and settings
// say, and shows the run in the shape that was asked for, on stdout as text, JSON or lines of a stream, or live on a
// terminal. It asks the person who is there about what waits, and says how to go on.
package run

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/provider/connect"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Run runs a prompt in a new or an existing session.
func Run(ctx context.Context, a *app.App, f *Flags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if !f.print {
		f.prompt = strings.Join(args, " ")
		return interactive(ctx, a, f)
	}
	prompt, piped, err := prompt(ctx, a, f, args)
	if err != nil {
		return err
	}
	set, err := settingsFor(ctx, a, f)
	if err != nil {
		return err
	}
	if changed, err := a.AskTrust(ctx, set); err != nil {
		return err
	} else if changed {
		if set, err = settingsFor(ctx, a, f); err != nil {
			return err
		}
	}
	f.tellSettings(a, set)
	if err := askConsent(ctx, a, f, set); err != nil {
		return err
	}
	out := newPrinter(a, f, prompt, piped)
	protect, err := protected(a, set)
	if err != nil {
		return err
	}
	h, err := a.Open(ctx, homes.Config{
		Observe: f.watched.observing(out.observe), Protect: protect, Limits: set.Bounds, Secrets: a.Secrets(set), Prices: set.PriceList(), Windows: set.Windows,
		Log: a.Logger(), Memory: app.Memory(set), MinSession: set.MinSession(), CommitKnowledge: set.Knowledge.Commit, Instructions: set.Context.Instructed(),
		Files: app.Files(set),
	})
	if err != nil {
		return err
	}
	a.WarnOfLosses(ctx, h)
	err = runIn(ctx, a, h, f, set, out, prompt)
	if cerr := h.Close(); err == nil {
		err = cerr
	}
	return err
}

// tellSettings says what of the settings does not hold.
func (f *Flags) tellSettings(a *app.App, set settings.Loaded) {
	for _, text := range set.Ignored {
		a.Note("ignored: %s", text)
	}
	for _, text := range set.Unknown {
		a.Note("%s", text)
	}
	if f.mode == "" && permission.Mode(set.Mode) == permission.ModeBypass {
		a.Note(app.BypassNotTaken)
	}
	warnOfShort(a, set)
}

func runIn(ctx context.Context, a *app.App, h *homes.Home, f *Flags, set settings.Loaded, out *printer, prompt string) error {
	opt, err := options(ctx, a, h, f, set)
	if err != nil {
		return err
	}
	for _, text := range f.unknown {
		a.Note("%s", text)
	}
	id, resumed, err := choose(ctx, a, h, f, set, prompt)
	if err != nil {
		return err
	}
	if resumed && !f.branched {
		if err := resumeFiles(ctx, a, h, id, f); err != nil {
			return err
		}
	}
	known, err := settle(ctx, a, h, id, f, set, resumed, &opt) // rules of the session, before this run
	if err != nil {
		return err
	}
	if f.name != "" {
		sessions.WarnOfTwins(ctx, a, h, id, f.name)
	}
	if f.detach {
		return detach(ctx, a, h, f, id, prompt, opt)
	}
	if out.home = h; f.wait && a.Asks && f.format != output.Stream {
		out.asker = &asker{app: a, home: h}
	}
	opt.Prompt, opt.Wait, opt.Asleep, opt.TurnEnded = prompt, f.wait, out.asleep, out.turnEnded
	opt.Titles = f.watched != nil && set.UI.Switches().Titles
	f.watched.attach(ctx, a, h, &opt)
	opt.Opened = func(st *session.State) {
		f.watched.opened()
		if a.Screen {
			a.Undisturbed() // what is printed from now on says it
		}
		out.opened(st, resumed, func(seq int64) string { return messageAt(ctx, h, id, seq) })
		warnOfRules(a, opt.Rules, known)
	}
	opt.Ended = func(r *view.Result) { out.result(r, resumed, runsOn(ctx, h, r)) }
	ctx, interrupt, ended := signals(f.watched.until(ctx), a)
	opt.Interrupt = interrupt
	r, err := h.Run(ctx, id, opt)
	sig := ended()
	out.asker.end()
	f.watched.wait()
	if err != nil {
		return err
	}
	if w, ok := a.Stdout.(*app.Results); ok {
		w.Hint = "the answer is kept: perdure show " + id + " --messages"
	}
	sessions.TellTasks(context.WithoutCancel(ctx), a, h, id)
	return app.Exit(exitCode(r, sig, f.wait))
}

// choose finds or makes the session to run, and reports whether it existed.
func choose(ctx context.Context, a *app.App, h *homes.Home, f *Flags, set settings.Loaded, prompt string) (id string, resumed bool, err error) {
	switch {
	case f.resume == Pick:
		return "", false, listToPick(ctx, a, h)
	case f.resume != "":
		id, err = a.Resolve(ctx, h, f.resume)
	case f.cont:
		id, err = newest(ctx, a, h, f)
	default:
		id, err = create(ctx, a, h, f, set, prompt)
		return id, false, err
	}
	if err != nil {
		return id, true, err
	}
	if !f.fork {
		return id, true, tellCopy(ctx, a, h, f, id)
	}
	id, err = branch(ctx, a, h, f, id)
	return id, true, err
}

// newest is the session of this directory with which -c goes on: a script's own, or the one that a person sat in.
func newest(ctx context.Context, a *app.App, h *homes.Home, f *Flags) (string, error) {
	if f.print {
		return a.Newest(ctx, h)
	}
	return a.NewestSeat(ctx, h)
}

// warnOfRules says what a rule of a flag allows besides what was meant, when it is new to the session.
func warnOfRules(a *app.App, rules, known []session.Rule) {
	for _, r := range rules {
		if r.Source != permission.SourceFlag || slices.Contains(known, r) {
			continue
		}
		if w := permission.Warning(permission.Rule{Effect: permission.Effect(r.Effect), Text: r.Text, Source: r.Source}); w != "" {
			a.Note("%s", w)
		}
	}
}

func listToPick(ctx context.Context, a *app.App, h *homes.Home) error {
	const most = 10
	page, err := h.List(ctx, store.Query{Limit: sessions.OverviewLooked})
	if err != nil {
		return err
	}
	newest := slices.DeleteFunc(page.Sessions, sessions.OnlyTasks)
	if len(newest) == 0 {
		return &app.ExitError{Code: app.ExitMissing, Text: "there is no session to resume", Hint: "perdure -p \"PROMPT\" opens one"}
	}
	a.Note("which session? the newest are:")
	beside := *a                                                                           // stdout is for answers
	beside.Stdout, beside.Environ = a.Stderr, append([]string{"NO_COLOR=1"}, a.Environ...) // it may be no terminal
	if err := sessions.Print(&beside, newest[:min(len(newest), most)], false); err != nil {
		return err
	}
	a.Hint("perdure -p -r ID goes on with one of them")
	return app.Exit(app.ExitUsage)
}

// create opens a new session.
func create(ctx context.Context, a *app.App, h *homes.Home, f *Flags, set settings.Loaded, prompt string) (string, error) {
	model := f.model
	if model == "" {
		model = set.Model
	}
	agent, err := h.Agent(ctx, model)
	if err != nil {
		return "", err
	}
	if _, variable := connect.Configured(a.Getenv); model == "" && variable == "" {
		a.TellLocal(agent.Provider + "/" + agent.Model)
	}
	limits := homes.RunOptions{}
	if f.limits(&limits, set, nil); limits.BudgetNano != nil {
		if err := checkBudget(agent, *limits.BudgetNano); err != nil {
			return "", err
		}
	}
	warnOfPlainHTTP(a, agent.Provider)
	agent.System = systemPrompt(a, f.appendSystem)
	mode := permission.Mode(f.mode)
	if mode == "" {
		mode = permission.Mode(set.Mode)
	}
	if mode == permission.ModeBypass {
		mode = permission.ModeDefault // a flag sets it, for as long as the run lasts
	}
	dir, err := a.Workdir()
	if err != nil {
		return "", err
	}
	a.Dir = dir
	dirs, err := directories("--add-dir", f.dirs, dir)
	if err != nil {
		return "", err
	}
	fresh, err := startsFresh(ctx, a, f, set, dir)
	if err != nil {
		return "", err
	}
	marks, events, err := f.begins(h.Hide(prompt))
	if err != nil {
		return "", err
	}
	spec := engine.Spec{
		ID: f.sessionID, Owner: a.Getenv("USER"), Title: f.name, Labels: marks, Events: events, Agent: agent, Mode: mode, Cwd: dir, Dirs: dirs,
		Fresh: fresh,
	}
	if !f.isolate {
		return h.Create(ctx, spec)
	}
	own, err := h.CreateIsolated(ctx, spec)
	if err == nil {
		sessions.TellOwn(a, own, true)
	}
	return own.Session, err
}

// options are what the run brings to its session.
func options(ctx context.Context, a *app.App, h *homes.Home, f *Flags, set settings.Loaded) (opt homes.RunOptions, err error) {
	if dir, err := filepath.EvalSymlinks(a.Dir); err == nil {
		a.Dir = dir
	}
	opt.Actor = store.Actor{Type: store.ActorUser, ID: a.Getenv("USER")}
	opt.Mode = permission.Mode(f.mode)
	if opt.AddDirs, err = directories("--add-dir", f.dirs, a.Dir); err != nil {
		return opt, err
	}
	rules, err := f.rules()
	if err != nil {
		return opt, err
	}
	tellDenied(a, rules)
	for _, r := range set.Rules {
		rules = append(rules, session.Rule{Effect: string(r.Effect), Text: r.Text, Source: r.Source})
	}
	opt.Rules, opt.SetRules = rules, true
	if f.model != "" && (f.cont || f.resume != "") {
		agent, err := h.Agent(ctx, f.model)
		if err != nil {
			return opt, err
		}
		opt.Agent = &agent
	}
	return opt, nil
}

// signals turns SIGINT into a cancel of the turn (a second one parks), SIGTERM and SIGHUP into a parked session. The
// returned function ends the listening and tells which signal came, if any.
func signals(parent context.Context, a *app.App) (ctx context.Context, interrupt <-chan struct{}, ended func() os.Signal) {
	// Whoever reads our output may go away: writing then fails, and the session goes on. Without this, writing kills.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, park := context.WithCancel(parent)
	cancel := make(chan struct{}, 1)
	stop := a.Listen(func(sig os.Signal, again bool) {
		if sig == os.Interrupt && !again {
			cancel <- struct{}{}
			return
		}
		park()
	})
	return ctx, cancel, func() os.Signal {
		defer park()
		return stop()
	}
}

// messageAt is the text of a message in the log; empty if it cannot be read, which whoever needs it finds out.
func messageAt(ctx context.Context, h *homes.Home, id string, seq int64) string {
	for ev, err := range h.Events(ctx, id, seq, seq) {
		if err != nil {
			return ""
		}
		if b, err := session.Decode(ev); err == nil {
			if m, ok := b.(*session.MessageReceived); ok {
				return model.Text(m.Content)
			}
		}
	}
	return ""
}

// runsOn reports whether a parked run has left a command behind that runs.
func runsOn(ctx context.Context, h *homes.Home, r *view.Result) bool {
	if r.StopReason != session.TurnParked {
		return false
	}
	st, err := h.State(context.WithoutCancel(ctx), r.SessionID)
	return err == nil && st.Turn != nil && slices.ContainsFunc(st.Turn.Calls, func(c session.Call) bool {
		return c.State == session.ActExecuting && c.Effect == session.EffectProcess
	})
}

// exitCode is the one of a run's outcome.
func exitCode(r *view.Result, sig os.Signal, wait bool) int {
	if s, ok := sig.(syscall.Signal); ok && wait { // it would not have ended by itself
		return 128 + int(s)
	}
	switch r.StopReason {
	case session.TurnEndTurn, session.TurnNone:
		return app.ExitDone
	case session.TurnMaxSteps, session.TurnMaxBudget:
		return app.ExitLimit
	case session.TurnWaitingApproval, session.TurnWaitingAnswer:
		return app.ExitWaiting
	case session.TurnCancelled:
		return 128 + int(syscall.SIGINT)
	case session.TurnParked:
		if s, ok := sig.(syscall.Signal); ok {
			return 128 + int(s)
		}
	}
	return app.ExitFailed
}

// protected resolves the paths that the settings protect.
func protected(a *app.App, set settings.Loaded) ([]string, error) {
	var out []string
	for _, p := range set.Protect {
		if rest, ok := strings.CutPrefix(p, "~"); ok {
			p = filepath.Join(a.Getenv("HOME"), rest)
		}
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("protect %q: HOME is no absolute path: %w", p, settings.ErrProtect)
		}
		out = append(out, filepath.Clean(p))
	}
	return out, nil
}

// minSecret is the shortest value that is looked for, in bytes.
const minSecret = 8

// warnOfShort names the secrets that cannot be hidden.
func warnOfShort(a *app.App, set settings.Loaded) {
	for _, name := range set.Secrets {
		if n := len(strings.TrimSpace(a.Getenv(name))); n > 0 && n < minSecret {
			a.Note("the value of %s is not hidden: with less than %d bytes it would be found in ordinary words", name, minSecret)
		}
	}
}
