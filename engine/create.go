package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/permission"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/tool"
)

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

// add makes the row of a new session. One of that id without any event is what a crash left of its creation, or what
// somebody is creating now: it is taken as it is, and the lease decides who begins its log. It is never replaced, since
// between a look at it and its deletion its log may begin.
func (e *Engine) add(ctx context.Context, n store.NewSession) error {
	err := e.cfg.Store.Create(ctx, n)
	if !errors.Is(err, store.ErrExists) {
		return err
	}
	old, getErr := e.cfg.Store.Get(ctx, n.ID)
	if getErr != nil || old.Head.Seq > 0 || old.Pending > 0 || !samePlace(old.Parent, n.Parent) {
		return err
	}
	return nil
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
	given := childID != ""
	if !given {
		childID = e.cfg.NewID()
	}
	settled := seq != 0
	if given && !settled {
		// What a crash left of this very fork is begun where it was meant, although its parent has moved on.
		if old, err := e.cfg.Store.Get(ctx, childID); err == nil && old.Head.Seq == 0 && old.Parent != nil && old.Parent.Session == parent {
			seq = old.Parent.Seq
		}
	}
	st, err := e.LoadAt(ctx, parent, seq, settled)
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
