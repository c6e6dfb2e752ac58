package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

// Session is one lease on one log. Its methods are called from one goroutine; what runs beside it reports to its
// loop.
type Session struct {
	eng        *Engine
	lease      store.Lease
	state      *session.State
	transcript *session.Transcript // nil until a model call needs it
	mark       int64               // inbox items up to here are in the log
	flights    map[string]*flight
	landed     chan landing
	asked      chan request
	watched    map[string]bool // tasks whose end is waited for
	recovered  []Recovery

	fresh     int64 // event bytes since the newest snapshot
	snapSize  int64
	heads     *store.Heads // as stored
	failed    error        // of an append: nothing may follow
	showing   sync.Mutex
	watchers  sync.WaitGroup // goroutines that wait for the ends of tasks
	watchCtx  context.Context
	stopWatch context.CancelFunc
}

// Options are what a caller brings to an opened session. Zero fields change nothing.
type Options struct {
	Mode       permission.Mode // of this run; bypass lasts no longer than the lease
	Rules      []session.Rule  // if SetRules: replace the ones in force, but for those of flags, which stay
	SetRules   bool
	MaxSteps   *int
	BudgetNano *int64
	AddDirs    []string
	Agent      *session.Agent // another provider, model, window and price; the rest of it is ignored
	Actor      session.Actor  // who opens; zero: user
	NewPrompt  bool           // a prompt follows: a turn that a limit has halted is given up, not continued
}

// Recovery is something that opening a session found out.
type Recovery struct {
	Kind string `json:"kind"` // act, task, file, grant, mode, turn
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Open takes the lease of a session, folds its log and appends session.resumed. Nothing else happens until Run.
// Errors: store.ErrNotFound, *store.HeldError, ErrNeverOpened, *store.CorruptError, store.ErrUncertain.
func (e *Engine) Open(ctx context.Context, id string, opt Options) (*Session, error) {
	lease, err := e.cfg.Store.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := e.open(ctx, lease, opt)
	if err != nil {
		return nil, errors.Join(err, e.cfg.Store.Release(context.WithoutCancel(ctx), lease))
	}
	return s, nil
}

func (e *Engine) open(ctx context.Context, lease store.Lease, opt Options) (*Session, error) {
	st, err := e.Load(ctx, lease.Session)
	if err != nil {
		return nil, err
	}
	if st.ReadOnly != "" {
		return nil, fmt.Errorf("session %s is read-only here: %s: %w", st.ID, st.ReadOnly, store.ErrNewer)
	}
	s := &Session{
		eng: e, lease: lease, state: st, mark: lease.Info.Mark,
		flights: map[string]*flight{}, watched: map[string]bool{},
		landed: make(chan landing, 64), asked: make(chan request),
	}
	s.watchCtx, s.stopWatch = context.WithCancel(context.WithoutCancel(ctx))
	s.noteBefore()
	resumed := &session.Resumed{Epoch: lease.Epoch, Host: e.cfg.Host, BootID: e.cfg.BootID, PID: e.cfg.PID, Build: e.cfg.Build}
	err = s.append(ctx, engineActor, resumed)
	if halt, _ := st.Halt(); err == nil && halt != "" && opt.NewPrompt {
		err = s.append(ctx, engineActor, &session.TurnEnded{N: st.Turn.N, Stop: halt})
	}
	if err == nil {
		err = s.configure(ctx, opt)
	}
	if err == nil {
		err = s.collectTasks(ctx)
	}
	if err != nil {
		s.stopWatch()
		return nil, err
	}
	s.sweep()
	s.watchTasks()
	return s, nil
}

var engineActor = session.Actor{Type: session.ActorEngine}

// configure appends what of the options differs from the state.
func (s *Session) configure(ctx context.Context, opt Options) error {
	actor := opt.Actor
	if actor.Type == "" {
		actor.Type = session.ActorUser
	}
	c := &session.Configured{AddDirs: slices.DeleteFunc(slices.Clone(opt.AddDirs), func(d string) bool {
		return slices.Contains(s.state.Directories, d)
	})}
	if opt.Mode != "" && string(opt.Mode) != s.state.Config.Mode {
		mode := string(opt.Mode)
		c.Mode = &mode
	}
	if opt.MaxSteps != nil && (*opt.MaxSteps != s.state.Config.MaxSteps || *opt.MaxSteps != 0) {
		c.MaxSteps = opt.MaxSteps
	}
	if opt.BudgetNano != nil && *opt.BudgetNano != s.state.Config.BudgetNano {
		c.BudgetNano = opt.BudgetNano
	}
	if a := opt.Agent; a != nil && (a.Provider != s.state.Agent.Provider || a.Model != s.state.Agent.Model) {
		c.Provider, c.Model, c.MaxTokens, c.Window, c.Price = &a.Provider, &a.Model, &a.MaxTokens, &a.Window, a.Price
		s.recovered = append(s.recovered, Recovery{
			Kind: "model", ID: a.Provider + "/" + a.Model,
			Text: "the thinking of " + s.state.Agent.Provider + "/" + s.state.Agent.Model + " is not shown to the new model",
		})
	}
	var bodies []session.Body
	if c.Mode != nil || c.MaxSteps != nil || c.BudgetNano != nil || c.Model != nil || len(c.AddDirs) > 0 {
		bodies = append(bodies, c)
	}
	if opt.SetRules {
		rules := s.mergeRules(opt.Rules)
		if digest := rulesDigest(rules); digest != s.state.Permissions.Digest {
			bodies = append(bodies, &session.PermissionRules{Rules: rules, Digest: digest})
		}
	}
	return s.append(ctx, actor, bodies...)
}

// mergeRules adds to the rules of today those that a human gave this session by flags before: they are the session's
// own. Files are read anew each time.
func (s *Session) mergeRules(now []session.Rule) []session.Rule {
	var out []session.Rule
	for _, r := range s.state.Permissions.Rules {
		if r.Source == permission.SourceFlag && !slices.Contains(now, r) {
			out = append(out, r)
		}
	}
	return append(out, now...)
}

func rulesDigest(rules []session.Rule) session.Digest {
	if len(rules) == 0 {
		return session.Digest{}
	}
	b, err := json.Marshal(rules)
	if err != nil {
		return session.Digest{}
	}
	return session.Sum(b)
}

// State is the state as of now. It must only be read, and not while Run runs.
func (s *Session) State() *session.State { return s.state }

// Transcript is the conversation as of now. The same limits hold as for State.
func (s *Session) Transcript(ctx context.Context) (*session.Transcript, error) {
	if s.transcript == nil {
		t, err := s.eng.Transcript(ctx, s.state)
		if err != nil {
			return nil, fmt.Errorf("session %s: read conversation: %w", s.state.ID, err)
		}
		s.transcript = t
	}
	return s.transcript, nil
}

// Recovered lists what opening and settling found out.
func (s *Session) Recovered() []Recovery { return s.recovered }

// append seals bodies as the next events, and changes memory only after the store acknowledged them.
func (s *Session) append(ctx context.Context, actor session.Actor, bodies ...session.Body) error {
	actors := make([]session.Actor, len(bodies))
	for i := range actors {
		actors[i] = actor
	}
	return s.appendAs(ctx, actors, bodies, 0)
}

func (s *Session) appendAs(ctx context.Context, actors []session.Actor, bodies []session.Body, mark int64) error {
	if s.failed != nil {
		return s.failed
	}
	if len(bodies) == 0 && mark == 0 {
		return nil
	}
	now := s.eng.cfg.Now().UnixMilli()
	chain := session.Chain{Session: s.state.ID, Head: s.state.Head}
	events := make([]session.Event, len(bodies))
	for i, b := range bodies {
		ev, err := chain.Event(actors[i], now, b)
		if err != nil {
			return err
		}
		events[i] = ev
	}
	heads := s.changedHeads()
	err := s.eng.cfg.Store.Append(context.WithoutCancel(ctx), s.lease, store.Batch{Events: events, Mark: mark, Heads: heads})
	if err != nil {
		s.failed = fmt.Errorf("session %s: append: %w", s.state.ID, err)
		return s.failed
	}
	s.mark = max(s.mark, mark)
	for i, ev := range events {
		s.fold(ev, bodies[i])
	}
	if s.fresh > max(64<<10, s.snapSize) {
		s.snapshot(ctx)
	}
	return nil
}

// changedHeads are the listing heads if they differ from the ones stored. They are of the state before the append, one
// step late at worst; the last append of a lease, session.released, makes them right.
func (s *Session) changedHeads() *store.Heads {
	h := headsOf(s.state)
	if s.heads != nil && reflect.DeepEqual(*s.heads, h) {
		return nil
	}
	s.heads = &h
	return &h
}

func (s *Session) fold(ev session.Event, body session.Body) {
	s.state.ApplyBody(ev, body)
	if s.transcript != nil {
		s.transcript.Apply(ev, body)
	}
	s.fresh += int64(len(ev.Body))
	s.observe(Update{Session: s.state.ID, Event: &ev, Body: body})
}

// observe shows something; flights show their deltas, so only one at a time may.
func (s *Session) observe(u Update) {
	if s.eng.cfg.Observe == nil {
		return
	}
	s.showing.Lock()
	defer s.showing.Unlock()
	s.eng.cfg.Observe(u)
}

func (s *Session) snapshot(ctx context.Context) {
	b, err := json.Marshal(s.state)
	if err == nil {
		err = s.eng.cfg.Store.SaveSnapshot(context.WithoutCancel(ctx), s.state.ID, store.Snapshot{
			Seq: s.state.Head.Seq, Hash: s.state.Head.Hash, FoldVersion: session.FoldVersion, State: b,
		})
	}
	if err != nil {
		s.eng.cfg.Log.Warn("snapshot was not saved", "session", s.state.ID, "error", err)
	}
	s.fresh, s.snapSize = 0, int64(len(b))
}

// Close stops what runs beside the session, appends session.released and gives the lease back. Commands go on under
// their shims. A second Close does nothing.
func (s *Session) Close(ctx context.Context, reason string) error {
	if s.stopWatch == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	s.ground(errParked)
	s.stopWatch()
	s.watchers.Wait()
	s.stopWatch = nil
	err := s.append(ctx, engineActor, &session.Released{Reason: reason})
	if s.fresh > 16<<10 {
		s.snapshot(ctx)
	}
	return errors.Join(err, s.eng.cfg.Store.Release(ctx, s.lease))
}
