package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

const bypassNotTaken = "bypassPermissions of the configuration is not taken: give --dangerously-skip-permissions with each run"

// run runs a prompt in a new or an existing session.
func (a *App) run(ctx context.Context, f *runFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if !f.print {
		return &exitError{code: exitUsage, text: "there is no terminal UI in this version", hint: "run headless: perdure -p \"PROMPT\"; see perdure --help"}
	}
	prompt, piped, err := a.prompt(ctx, f, args)
	if err != nil {
		return err
	}
	set, err := a.settingsFor(ctx, f)
	if err != nil {
		return err
	}
	for _, text := range set.Ignored {
		a.note("ignored: %s", text)
	}
	for _, text := range set.Unknown {
		a.note("%s", text)
	}
	if f.mode == "" && permission.Mode(set.Mode) == permission.ModeBypass {
		a.note(bypassNotTaken)
	}
	a.warnOfShort(set)
	out := a.printer(f, prompt, piped)
	protect, err := a.protected(set)
	if err != nil {
		return err
	}
	h, err := a.open(ctx, homes.Config{Observe: out.observe, Protect: protect, Limits: set.Bounds, Secrets: a.secrets(set), Prices: set.PriceList()})
	if err != nil {
		return err
	}
	a.warnOfLosses(ctx, h)
	err = a.runIn(ctx, h, f, set, out, prompt)
	if cerr := h.Close(); err == nil {
		err = cerr
	}
	return err
}

func (a *App) runIn(ctx context.Context, h *homes.Home, f *runFlags, set settings.Loaded, out *printer, prompt string) error {
	opt, err := a.options(ctx, h, f, set)
	if err != nil {
		return err
	}
	for _, text := range f.unknown {
		a.note("%s", text)
	}
	id, resumed, err := a.choose(ctx, h, f, set, prompt)
	if err != nil {
		return err
	}
	known, err := a.settle(ctx, h, id, f, set, resumed, &opt) // rules of the session, before this run
	if err != nil {
		return err
	}
	if f.name != "" {
		a.warnOfTwins(ctx, h, id, f.name)
	}
	if out.home = h; f.wait && a.Asks && f.format != "stream-json" {
		out.asker = &asker{app: a, home: h}
	}
	opt.Prompt, opt.Wait, opt.Asleep, opt.TurnEnded = prompt, f.wait, out.asleep, out.turnEnded
	opt.Opened = func(st *session.State) {
		out.opened(st, resumed, func(seq int64) string { return messageAt(ctx, h, id, seq) })
		a.warnOfRules(opt.Rules, known)
	}
	ctx, interrupt, ended := a.signals(ctx)
	opt.Interrupt = interrupt
	r, err := h.Run(ctx, id, opt)
	sig := ended()
	out.asker.end()
	if err != nil {
		return err
	}
	out.result(r, resumed, a.runsOn(ctx, h, r))
	if w, ok := a.Stdout.(*results); ok {
		w.hint = "the answer is kept: perdure show " + id + " --messages"
	}
	a.tellTasks(context.WithoutCancel(ctx), h, id)
	return exit(exitCode(r, sig, f.wait))
}

// choose finds or makes the session to run, and reports whether it existed.
func (a *App) choose(ctx context.Context, h *homes.Home, f *runFlags, set settings.Loaded, prompt string) (id string, resumed bool, err error) {
	switch {
	case f.resume == pick:
		return "", false, a.listToPick(ctx, h)
	case f.resume != "":
		id, err = a.resolve(ctx, h, f.resume)
	case f.cont:
		id, err = a.newest(ctx, h)
	default:
		id, err = a.create(ctx, h, f, set, prompt)
		return id, false, err
	}
	if err != nil || !f.fork {
		return id, true, err
	}
	name, err := forkName(ctx, h, id, f.name)
	if err != nil {
		return "", false, err
	}
	child, seq, err := h.Fork(ctx, id, 0, f.sessionID, name)
	if err == nil {
		a.note("forked %s at event %d as %s", id, seq, child)
	}
	return child, true, err
}

// warnOfRules says what a rule of a flag allows besides what was meant, when it is new to the session.
func (a *App) warnOfRules(rules, known []session.Rule) {
	for _, r := range rules {
		if r.Source != permission.SourceFlag || slices.Contains(known, r) {
			continue
		}
		if w := permission.Warning(permission.Rule{Effect: permission.Effect(r.Effect), Text: r.Text, Source: r.Source}); w != "" {
			a.note("%s", w)
		}
	}
}

// noModel is what a session has that was made for a task.
const noModel = "none/none"

// newest finds the newest session of this directory that was not closed.
func (a *App) newest(ctx context.Context, h *homes.Home) (string, error) {
	dir, err := a.workdir()
	if err != nil {
		return "", err
	}
	q := store.Query{Cwd: dir, Limit: 100}
	for {
		page, err := h.Store().List(ctx, q)
		if err != nil {
			return "", err
		}
		for _, s := range page.Sessions {
			if s.Heads.Model == noModel && s.Heads.Turns == 0 { // it holds tasks, and nobody ever talked in it
				continue
			}
			if l := session.Lifecycle(s.Heads.Lifecycle); l == session.LifecycleOpen || l == session.LifecyclePaused {
				return s.ID, nil
			}
		}
		if q.After = page.Next; q.After == "" {
			return "", &exitError{
				code: exitMissing, text: "no session that can go on was opened in " + dir,
				hint: "perdure list shows those of other directories; -r ID resumes one",
			}
		}
	}
}

func (a *App) listToPick(ctx context.Context, h *homes.Home) error {
	const most = 10
	page, err := h.List(ctx, store.Query{Limit: overviewLooked})
	if err != nil {
		return err
	}
	sessions := slices.DeleteFunc(page.Sessions, onlyTasks)
	if len(sessions) == 0 {
		return &exitError{code: exitMissing, text: "there is no session to resume", hint: "perdure -p \"PROMPT\" opens one"}
	}
	a.note("which session? the newest are:")
	beside := *a // stdout is for answers
	beside.Stdout = a.Stderr
	if err := beside.printSessions(sessions[:min(len(sessions), most)], false); err != nil {
		return err
	}
	a.hint("perdure -p -r ID goes on with one of them")
	return exit(exitUsage)
}

// create opens a new session.
func (a *App) create(ctx context.Context, h *homes.Home, f *runFlags, set settings.Loaded, prompt string) (string, error) {
	model := f.model
	if model == "" {
		model = set.Model
	}
	agent, err := h.Agent(ctx, model)
	if err != nil {
		return "", err
	}
	limits := homes.RunOptions{}
	if f.limits(&limits, set, nil); limits.BudgetNano != nil {
		if err := checkBudget(agent, *limits.BudgetNano); err != nil {
			return "", err
		}
	}
	a.warnOfPlainHTTP(agent.Provider)
	agent.System = a.systemPrompt(f.appendSystem)
	mode := permission.Mode(f.mode)
	if mode == "" {
		mode = permission.Mode(set.Mode)
	}
	if mode == permission.ModeBypass {
		mode = permission.ModeDefault // a flag sets it, for as long as the run lasts
	}
	dir, err := a.workdir()
	if err != nil {
		return "", err
	}
	a.Dir = dir
	dirs, err := directories("--add-dir", f.dirs, dir)
	if err != nil {
		return "", err
	}
	return h.Create(ctx, engine.Spec{
		ID: f.sessionID, Owner: a.getenv("USER"), Title: f.name, Labels: labels(h.Hide(prompt)), Agent: agent, Mode: mode, Cwd: dir, Dirs: dirs,
	})
}

// options are what the run brings to its session.
func (a *App) options(ctx context.Context, h *homes.Home, f *runFlags, set settings.Loaded) (opt homes.RunOptions, err error) {
	if dir, err := filepath.EvalSymlinks(a.Dir); err == nil {
		a.Dir = dir
	}
	opt.Actor = store.Actor{Type: store.ActorUser, ID: a.getenv("USER")}
	opt.Mode = permission.Mode(f.mode)
	if opt.AddDirs, err = directories("--add-dir", f.dirs, a.Dir); err != nil {
		return opt, err
	}
	rules, err := f.rules()
	if err != nil {
		return opt, err
	}
	a.tellDenied(rules)
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
func (a *App) signals(parent context.Context) (ctx context.Context, interrupt <-chan struct{}, ended func() os.Signal) {
	// Whoever reads our output may go away: writing then fails, and the session goes on. Without this, writing kills.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, park := context.WithCancel(parent)
	cancel := make(chan struct{}, 1)
	stop := a.listen(func(sig os.Signal, again bool) {
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
func (a *App) runsOn(ctx context.Context, h *homes.Home, r *view.Result) bool {
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
		return exitDone
	case session.TurnMaxSteps, session.TurnMaxBudget:
		return exitLimit
	case session.TurnWaitingApproval, session.TurnWaitingAnswer:
		return exitWaiting
	case session.TurnCancelled:
		return 128 + int(syscall.SIGINT)
	case session.TurnParked:
		if s, ok := sig.(syscall.Signal); ok {
			return 128 + int(s)
		}
	}
	return exitFailed
}

// protected resolves the paths that the settings protect.
func (a *App) protected(set settings.Loaded) ([]string, error) {
	var out []string
	for _, p := range set.Protect {
		if rest, ok := strings.CutPrefix(p, "~"); ok {
			p = filepath.Join(a.getenv("HOME"), rest)
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
func (a *App) warnOfShort(set settings.Loaded) {
	for _, name := range set.Secrets {
		if n := len(strings.TrimSpace(a.getenv(name))); n > 0 && n < minSecret {
			a.note("the value of %s is not hidden: with less than %d bytes it would be found in ordinary words", name, minSecret)
		}
	}
}

// secrets are the values of the variables that the settings name.
func (a *App) secrets(set settings.Loaded) map[string]string {
	out := map[string]string{}
	for _, name := range set.Secrets {
		if v := a.getenv(name); v != "" {
			out[name] = v
		}
	}
	return out
}
