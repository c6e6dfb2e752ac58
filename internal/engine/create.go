package engine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// ErrSpec says that a session cannot be made as it is described.
var ErrSpec = invalid.New("bad description of a session")

func checkSpec(s Spec) error {
	if s.Mode == permission.ModeBypass {
		return fmt.Errorf("%w: %s holds for a run, by its options, and never for a session", ErrSpec, s.Mode)
	}
	if s.Mode != "" {
		if _, err := permission.ParseMode(string(s.Mode)); err != nil {
			return err
		}
	}
	for _, d := range append([]string{s.Cwd}, s.Dirs...) {
		if d != "" && !filepath.IsAbs(d) {
			return fmt.Errorf("%w: the directory %q is not absolute", ErrSpec, d)
		}
		if !utf8.ValidString(d) {
			return fmt.Errorf("%w: the name of the directory %q is no UTF-8, and a log keeps text: rename it, or work in the one above it", ErrSpec, d)
		}
	}
	return nil
}

// Create makes a session with its first event, in one commit, and returns its id. Errors: store.ErrExists,
// store.ErrBadID, ErrSpec, permission.ErrMode.
func (e *Engine) Create(ctx context.Context, spec Spec) (string, error) {
	if spec.ID == "" {
		spec.ID = e.cfg.NewID()
	}
	if err := store.CheckID(spec.ID); err != nil {
		return "", fmt.Errorf("create session: %w", err)
	}
	if err := checkSpec(spec); err != nil {
		return "", fmt.Errorf("create session %s: %w", spec.ID, err)
	}
	if len(spec.Agent.Tools) == 0 {
		spec.Agent.Tools = tools.Describe(tools.Offered(e.cfg.Tools, e.cfg.Memory != nil, e.keeper(spec.ID) != nil))
	}
	if err := fitsWindow(spec); err != nil {
		return "", fmt.Errorf("create session %s: %w", spec.ID, err)
	}
	if spec.Mode == "" {
		spec.Mode = permission.ModeDefault
	}
	spec.Agent.System = e.hideText(spec.Agent.System)
	spec.Title, spec.Labels = e.hideText(spec.Title), maps.Clone(spec.Labels)
	for k, v := range spec.Labels {
		spec.Labels[k] = e.hideText(v)
	}
	first := &session.Opened{
		ID: spec.ID, Owner: spec.Owner, Title: spec.Title, Labels: spec.Labels, Agent: spec.Agent,
		Config: session.Config{Mode: string(spec.Mode), Root: spec.Cwd}, Cwd: spec.Cwd, Dirs: spec.Dirs,
	}
	return spec.ID, e.begin(ctx, session.New(spec.ID), spec.Owner, append([]session.Body{first}, spec.Events...), spec.Shared)
}

// fitsWindow refuses what leaves no room for a conversation: a session of it could not say one word.
func fitsWindow(spec Spec) error {
	a, given := spec.Agent, session.New("")
	for _, b := range spec.Events {
		if g, ok := b.(*session.ContextGiven); ok {
			given.ApplyBody(store.Event{}, g)
		}
	}
	floor := (int64(len(a.System)+len(a.Tools))+given.GivenSize())/4 + leastRoom // rather too few: it must not refuse what would work
	if a.Window == 0 || floor <= a.Window {
		return nil
	}
	return fmt.Errorf("%w: the system prompt (%d bytes), the tools (%d bytes) and what a session here begins with, instructions and memory (%d bytes), need "+
		"about %d tokens with the least room for a conversation, and the window of %s has %d: use a model with a larger window, a "+
		"shorter prompt, fewer tools or shorter instructions",
		ErrSpec, len(a.System), len(a.Tools), given.GivenSize(), floor, a.Model, a.Window)
}

// leastRoom is the least that a conversation and a reply need beside what is frozen, in tokens.
const leastRoom = 2048

// hideText gives a text with every known secret replaced by its name.
func (e *Engine) hideText(text string) string { return string(e.cfg.Secrets.Replace([]byte(text))) }

// begin stores a session together with the events that its log begins with, over the state before them. Nobody holds it
// then: a creator has nothing to do in it that whoever opens it could not do.
func (e *Engine) begin(ctx context.Context, st *session.State, owner string, bodies []session.Body, shared []store.Shared) error {
	if err := session.CheckNil(bodies...); err != nil {
		return fmt.Errorf("create session %s: %w", st.ID, err)
	}
	actor := store.Actor{Type: store.ActorUser, ID: owner}
	events, err := e.seal(st, slices.Repeat([]store.Actor{actor}, len(bodies)), bodies, len(bodies) > 1)
	if err != nil {
		return err
	}
	for i, ev := range events {
		st.ApplyBody(ev, bodies[i])
	}
	heads := Heads(st)
	heads.Extra = listedOf(st, st.Head.Seq, st.Updated)
	err = e.cfg.Store.Create(ctx, store.NewSession{
		ID: st.ID, Owner: owner, Created: events[0].Time, Parent: st.Parent, Heads: heads, Events: events, Shared: shared,
	})
	for i := 0; err == nil && e.cfg.Observe != nil && i < len(events); i++ {
		e.cfg.Observe(Update{Session: st.ID, Event: &events[i], Body: bodies[i]})
	}
	return err
}

// Fork makes a child of a session at seq (0: its head) and returns the child's id and the seq it was forked at: a
// given seq is rounded down to a settled one. It is one commit of constant size: nothing is copied, and the child's
// first Open stores its first snapshot. Events follow the child's first ones in the same commit; it begins as [ForkState]
// says.
func (e *Engine) Fork(ctx context.Context, parent string, seq int64, childID, title string, events ...session.Body) (string, int64, error) {
	if childID == "" {
		childID = e.cfg.NewID()
	}
	if err := store.CheckID(childID); err != nil {
		return "", 0, fmt.Errorf("fork %s: %w", parent, err)
	}
	st, came, err := e.forkPoint(ctx, parent, seq)
	if err != nil {
		return "", 0, fmt.Errorf("fork %s: %w", parent, err)
	}
	child := session.Fork(st, childID)
	at := *child.Parent
	first := []session.Body{&session.Forked{Parent: at, ID: childID, Owner: st.Owner, Title: title}}
	if came != nil {
		first = append(first, came)
	}
	if err := e.begin(ctx, child, st.Owner, append(first, events...), nil); err != nil {
		return "", 0, fmt.Errorf("fork %s: %w", parent, err)
	}
	return childID, at.Seq, nil
}

// Heads are what a listing shows of a state.
func Heads(st *session.State) store.Heads {
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
