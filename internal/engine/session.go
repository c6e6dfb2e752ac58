package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Session is one lease on one log. Its methods are called from one goroutine; what runs beside it reports to its
// loop.
type Session struct {
	*held
	*world
	*admission
	*effects
	files
	instructor
	awaits
	modelCalls
	toolCalls
	*taskKeeper

	waker   *waker
	changes <-chan struct{} // of a sleep: see [store.Notifier]
	unwatch func()
}

// Open takes the lease of a session, folds its log and appends session.resumed. Nothing else happens until Run.
// Errors: store.ErrNotFound, *store.HeldError, ErrNoEvents, *store.CorruptError, store.ErrUncertain.
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
	st, fresh, size, err := e.known.take(ctx, e, lease.Info)
	if err != nil {
		return nil, err
	}
	if st.ReadOnly != "" {
		return nil, fmt.Errorf("session %s is read-only here: %s: %w", st.ID, st.ReadOnly, store.ErrNewer)
	}
	s := newSession(e, lease, st)
	s.fresh, s.snapSize = fresh, size
	s.began = e.cfg.Now()
	s.watchCtx, s.stopWatch = context.WithCancel(context.WithoutCancel(ctx))
	s.noteBefore(opt.Mode)
	resumed := &session.Resumed{Epoch: lease.Epoch, Host: e.cfg.Host, BootID: e.cfg.BootID, PID: e.cfg.PID, Build: e.cfg.Build}
	s.listed = lookedAt(lease.Info)
	err = s.append(ctx, engineActor, resumed)
	s.opened, s.listed = st.Head.Seq, nil
	if err == nil && st.Parent != nil && s.snapSize == 0 { // the only opening that reads the parent's log
		s.snapshot(ctx)
	}
	if err == nil && opt.NewPrompt {
		err = s.GiveUp(ctx)
	}
	if err == nil {
		err = s.configure(ctx, opt)
	}
	if err == nil {
		err = s.collectTasks(ctx)
	}
	if err == nil {
		err = s.tellAwaits(ctx)
	}
	if err != nil {
		s.stopWatch()
		return nil, err
	}
	s.noteActs()
	s.sweep()
	s.watchTasks()
	s.waker = e.wakers.hold(st.ID)
	return s, nil
}

var engineActor = store.Actor{Type: store.ActorEngine}

// State is the state as of now. It must only be read, and not while Run runs.
func (s *Session) State() *session.State { return s.state }

// Transcript is the conversation as of now. The same limits hold as for State.
func (s *held) Transcript(ctx context.Context) (*session.Transcript, error) {
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

// Close stops what runs beside the session, and appends session.released, which gives the lease back. Commands go on under
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
	stirred := s.stirredAt()
	err := s.saveScans(ctx, true)
	if err == nil {
		s.captureLeft(ctx)
	}
	removeSides(s.eng.cfg.SideDir, s.state.ID) // while they are this holder's
	if err == nil {
		err = s.release(ctx, reason, stirred)
	}
	if err != nil {
		err = errors.Join(err, s.eng.cfg.Store.Release(ctx, s.lease))
	}
	s.released = true
	s.eng.wakers.drop(s.state.ID, s.waker)
	return err
}

// release appends session.released, which gives the lease back, and keeps the state for the next opening.
func (s *held) release(ctx context.Context, reason string, stirred int64) error {
	s.listed = listedOf(s.state, s.state.Head.Seq+1, stirred)
	released := []session.Body{&session.Released{Reason: reason}}
	if err := s.appendBatch(ctx, []store.Actor{engineActor}, released, store.Batch{Release: true}, false); err != nil {
		return err
	}
	if s.fresh > max(16<<10, s.snapSize) {
		s.snapshot(ctx)
	}
	s.eng.known.keep(s.state, s.fresh, s.snapSize)
	return nil
}
