package engine

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// ForkState is the state that a fork of a session at seq (0: its head) begins with, but for what a fork leaves to its
// parent: a seq is rounded down to a settled one. Where the log up to it was written in another home, nothing holds that
// was allowed there, as if the fork came in the bundle itself.
func (e *Engine) ForkState(ctx context.Context, parent string, seq int64) (*session.State, error) {
	st, came, err := e.forkPoint(ctx, parent, seq)
	if err != nil || came == nil {
		return st, err
	}
	st = st.Copy()
	st.ApplyBody(store.Event{Seq: st.Head.Seq + 1, Time: st.Updated}, came)
	return st, nil
}

// forkPoint is the state of a log at which a session is forked, and what follows the fork's first event if that came
// from another home; else nil.
func (e *Engine) forkPoint(ctx context.Context, parent string, seq int64) (*session.State, *session.Imported, error) {
	st, err := e.LoadAt(ctx, parent, seq, seq != 0)
	if err != nil || seq == 0 {
		return st, nil, err
	}
	came, err := e.arrival(ctx, st)
	return st, came, err
}

// arrival is the session.imported by which a state of a log came into this home; nil: it was reached here, or has that
// event in it.
//
// The newest session.imported of a log was written by this home, since nothing comes without one. What it says of where
// it began is true, and so is the one before that place. One that lies in what came is the word of whoever wrote it.
func (e *Engine) arrival(ctx context.Context, st *session.State) (*session.Imported, error) {
	seq := st.Head.Seq
	for until := int64(0); ; {
		later, err := e.LoadAt(ctx, st.ID, until, false)
		if _, damaged := errors.AsType[*store.CorruptError](err); damaged {
			return e.rescued(ctx, st)
		}
		if err != nil {
			return nil, err
		}
		switch a := later.Arrived; {
		case a.Seq <= seq:
			return nil, nil
		case seq > a.Since:
			return e.arrived(ctx, st, a.Seq)
		default:
			until = a.Since
		}
	}
}

var errNoArrival = errors.New("it is no session.imported")

// arrived is the session.imported at a seq of a log, as it is said of a fork of what came with it.
func (e *Engine) arrived(ctx context.Context, st *session.State, at int64) (*session.Imported, error) {
	var came *session.Imported
	for ev, err := range e.cfg.Store.Read(ctx, st.ID, at, at) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, &store.CorruptError{Session: st.ID, Seq: at, Cause: err}
		}
		came, _ = body.(*session.Imported)
	}
	if came == nil {
		return nil, &store.CorruptError{Session: st.ID, Seq: at, Cause: errNoArrival}
	}
	fork := *came
	fork.Part, fork.Lifecycle, fork.Since, fork.Price = false, "", 0, e.price(st)
	return &fork, nil
}

// rescued is what follows the first event of a fork of a log whose later part is damaged: whether what is before it came
// from another home is not known then, and it is taken for that. It works where the listing says that the session did.
func (e *Engine) rescued(ctx context.Context, st *session.State) (*session.Imported, error) {
	info, err := e.cfg.Store.Get(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	b := &session.Imported{Head: st.Head, From: st.Config.Root, Root: info.Heads.Cwd, Cwd: st.Cwd, Price: e.price(st), Text: []byte(rescuedText)}
	if b.Root != b.From {
		b.Cwd = b.Root
	}
	return b, nil
}

const rescuedText = "[What came later in this session is damaged; it goes on from here. What was allowed has to be allowed again. Read files before you rely on what you know of them.]"

// price is what a state's model costs by what is known here; nil: nothing is.
func (e *Engine) price(st *session.State) *model.Price {
	if e.cfg.Price == nil {
		return nil
	}
	return e.cfg.Price(st.Agent.Provider, st.Agent.Model)
}
