package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/tool"
)

// Engine opens sessions of one store. It is safe for concurrent use.
type Engine struct {
	cfg Config
}

// Config is an engine's world. Store, Provider and Files are required; Commands is required by process tools.
type Config struct {
	Store    store.Store
	Provider func(spec string) (model.Provider, error) // by PROVIDER/MODEL
	Cost     func(spec string, u session.Usage) *int64 // nano-USD of a call of PROVIDER/MODEL; nil: the session's price
	Tools    []tool.Tool
	Files    tool.Files
	Commands Commands
	Environ  []string                               // what commands start from; provider keys already removed
	Home     string                                 // the store's home, protected and told to commands; may be empty
	UserHome string                                 // for ~/ in paths and rules
	SideDir  string                                 // streams of running model calls, for the eyes; empty: none are kept
	OutDir   string                                 // outputs that a tool result only quotes; empty: none are kept
	TempDir  func(sessionID string) (string, error) // TMPDIR of a session's commands; nil: inherited
	Protect  []string                               // more protected paths
	Secrets  Secrets                                // known values that must not reach model and log; nil: none
	Observe  func(Update)                           // one call at a time for each session; must not block; nil: nobody looks
	Log      *slog.Logger                           // nil discards

	Host, BootID, Build string
	PID                 int
	Now                 func() time.Time // nil: time.Now
	NewID               func() string    // nil: UUIDv7
	Jitter              func() float64   // in [0,1); nil: math/rand
	Poll                time.Duration    // how often the inbox is looked at; 0: 100 ms
	MaxFailures         int              // failed attempts of one model call in a row; 0: 8
}

// New checks the config and returns an engine.
func New(cfg Config) (*Engine, error) {
	if cfg.Store == nil || cfg.Files == nil || cfg.Provider == nil {
		return nil, errors.New("engine: store, files and provider are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if cfg.Jitter == nil {
		cfg.Jitter = rand.Float64
	}
	if cfg.Secrets == nil {
		cfg.Secrets = noSecrets{}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Poll = orDefault(cfg.Poll, 100*time.Millisecond)
	cfg.MaxFailures = orDefault(cfg.MaxFailures, 8)
	return &Engine{cfg: cfg}, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Spec describes a session to create.
type Spec struct {
	ID     string // empty: a new one
	Owner  string
	Title  string
	Labels map[string]string
	Agent  session.Agent // Tools empty: the engine's
	Mode   permission.Mode
	Cwd    string // absolute
	Dirs   []string
}

// Create makes a session with its first event and returns its id. A session whose creator died before its first event
// is begun anew. Errors: store.ErrExists.
func (e *Engine) Create(ctx context.Context, spec Spec) (string, error) {
	if spec.ID == "" {
		spec.ID = e.cfg.NewID()
	}
	if len(spec.Agent.Tools) == 0 {
		spec.Agent.Tools = tool.Describe(e.cfg.Tools)
	}
	if spec.Mode == "" {
		spec.Mode = permission.ModeDefault
	}
	spec.Agent.System = string(e.cfg.Secrets.Replace([]byte(spec.Agent.System)))
	now := e.cfg.Now().UnixMilli()
	first := &session.Opened{
		ID: spec.ID, Owner: spec.Owner, Title: spec.Title, Labels: spec.Labels, Agent: spec.Agent,
		Config: session.Config{Mode: string(spec.Mode), Root: spec.Cwd}, Cwd: spec.Cwd, Dirs: spec.Dirs,
	}
	heads := store.Heads{
		Title: spec.Title, Labels: spec.Labels, Lifecycle: string(session.LifecycleOpen), Activity: string(session.Idle),
		Cwd: spec.Cwd, Model: spec.Agent.Provider + "/" + spec.Agent.Model,
	}
	info := store.NewSession{ID: spec.ID, Owner: spec.Owner, Labels: spec.Labels, Created: now, Heads: heads}
	if err := e.add(ctx, info); err != nil {
		return "", err
	}
	return spec.ID, e.begin(ctx, session.New(spec.ID), first, spec.Owner)
}

// add makes the row of a new session. One of that id without any event is what a crash left of its creation: it is
// replaced.
func (e *Engine) add(ctx context.Context, n store.NewSession) error {
	err := e.cfg.Store.Create(ctx, n)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	if old, getErr := e.cfg.Store.Get(ctx, n.ID); getErr != nil || old.Head.Seq > 0 || old.Pending > 0 {
		return err
	}
	if e.cfg.Store.Delete(ctx, n.ID) != nil {
		return err // somebody is creating it now
	}
	return e.cfg.Store.Create(ctx, n)
}

// begin appends a log's first event under a lease of its own. A crash before it leaves an empty log, which opening
// refuses as never opened.
func (e *Engine) begin(ctx context.Context, st *session.State, first session.Body, owner string) error {
	lease, err := e.cfg.Store.Acquire(ctx, st.ID)
	if errors.Is(err, store.ErrNotFound) { // whoever creates the same id now took this one for a crash's leaving
		err = store.ErrExists
	}
	if err != nil {
		return fmt.Errorf("begin session %s: %w", st.ID, err)
	}
	s := &Session{eng: e, lease: lease, state: st}
	before := headsOf(st)
	s.heads = &before // those that the session was created with stay
	switch {
	case lease.Info.Head != st.Head || !samePlace(lease.Info.Parent, st.Parent):
		err = fmt.Errorf("begin session %s: %w", st.ID, store.ErrExists) // another creator was faster
	default:
		err = s.append(ctx, session.Actor{Type: session.ActorUser, ID: owner}, first)
	}
	if err == nil {
		s.snapshot(ctx)
	}
	return errors.Join(err, e.cfg.Store.Release(context.WithoutCancel(ctx), lease))
}

func samePlace(a, b *session.Position) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// Fork makes a child of a session at seq (0: its head) and returns the child's id and the seq it was forked at: a
// given seq is rounded down to a settled one. Nothing is copied; the child's first snapshot is the one exception.
func (e *Engine) Fork(ctx context.Context, parent string, seq int64, childID, title string) (string, int64, error) {
	if childID == "" {
		childID = e.cfg.NewID()
	}
	st, err := e.LoadAt(ctx, parent, seq, seq != 0)
	if err == nil && st.Head.Seq == 0 {
		err = ErrNeverOpened
	}
	if err != nil {
		return "", 0, fmt.Errorf("fork %s: %w", parent, err)
	}
	child := session.Fork(st, childID)
	info := store.NewSession{
		ID: childID, Owner: st.Owner, Labels: st.Labels, Created: e.cfg.Now().UnixMilli(), Parent: child.Parent,
		Heads: headsOf(child),
	}
	if title != "" {
		info.Heads.Title = title
	}
	if err := e.add(ctx, info); err != nil {
		return "", 0, fmt.Errorf("fork %s: %w", parent, err)
	}
	first := &session.Forked{Parent: *child.Parent, ID: childID, Owner: st.Owner, Title: title}
	return childID, child.Parent.Seq, e.begin(ctx, child, first, st.Owner)
}

func headsOf(st *session.State) store.Heads {
	h := store.Heads{
		Title: st.Title, Labels: st.Labels, Lifecycle: string(st.Lifecycle), Activity: string(session.ActivityOf(st)),
		Cwd: st.Config.Root, Model: st.Agent.Provider + "/" + st.Agent.Model, Turns: int64(st.Turns),
	}
	if st.Unpriced == 0 {
		cost := st.Spent
		h.CostNano = &cost
	}
	return h
}
