package homes

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// HoldOptions are what a session is held with.
type HoldOptions struct {
	engine.Options
	// Approve, if not nil, is asked about each call that waits for an approval, beside the session's loop; several may be
	// asked at once. Its context ends with the session. An error leaves the call waiting for somebody else.
	Approve func(ctx context.Context, w view.Waiting) (Approval, error)
	// Still has nothing started before [Session.Begin], a message, an answer or an approval through this Session: what was
	// left open is settled and shown.
	Still bool
	// Titles has the model asked for a title, beside the loop and while nothing runs, when a turn has ended in a
	// session that has none.
	Titles bool
}

// Session is a session that this process holds, for a program that stays with it: a terminal, a server. It works on
// beside the program, from its first moment until Close: what an earlier holder left open is settled, the open turn and
// messages that wait go on. It is safe for concurrent use.
type Session struct {
	home    *Home
	id      string
	held    *engine.Session
	opt     HoldOptions
	changed []view.Recovery // files, as of the opening

	life context.Context // ends with the loop
	stop context.CancelFunc
	over chan struct{} // closed when the loop has ended
	err  error         // of the loop, readable then

	mu     sync.Mutex
	rest   *session.State // as of the newest rest
	rested chan struct{}  // closed at the next rest
	asked  map[string]asking
	closed error // of the first Close
	once   sync.Once
}

// Hold takes a session's lease and works on it beside the program until Close. Errors: store.ErrNotFound,
// *store.HeldError, store.ErrUncertain, *store.CorruptError.
func (h *Home) Hold(ctx context.Context, id string, opt HoldOptions) (*Session, error) {
	held, err := h.open(ctx, id, opt.Options)
	if err != nil {
		return nil, err
	}
	held.Still(opt.Still)
	held.Titles(opt.Titles)
	s := &Session{
		home: h, id: held.State().ID, held: held, opt: opt,
		changed: h.changedFiles(held.State()), over: make(chan struct{}), rested: make(chan struct{}), asked: map[string]asking{},
	}
	s.life, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(s.over)
		defer s.stop()
		if s.err = held.Serve(s.life, s.onRest); errors.Is(s.err, engine.ErrParked) {
			s.err = nil
		}
	}()
	return s, nil
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// Done is closed when the session is worked on no more: it was closed, or Err says what went wrong.
func (s *Session) Done() <-chan struct{} { return s.over }

// Err is why the session is worked on no more; nil as long as it is, and after Close. An error that wraps
// store.ErrUncertain means that this process should end: the next one reads what the log holds.
func (s *Session) Err() error {
	select {
	case <-s.over:
		return s.err
	default:
		return nil
	}
}

// Close gives the session back. An open turn stays open for the next holder, commands run on. It may be called again.
func (s *Session) Close() error {
	s.once.Do(func() {
		s.stop()
		<-s.over
		if s.err == nil {
			s.err = s.home.leave(context.Background(), s.held, true)
		}
		s.closed = errors.Join(s.err, closeUnless(context.Background(), s.held, s.err))
	})
	return s.closed
}

// State is the session as of now; the copy is the caller's. Errors: of ctx, and of the session's end.
func (s *Session) State(ctx context.Context) (st *session.State, err error) {
	err = s.do(ctx, func() error { st = s.held.State().Copy(); return nil })
	return st, err
}

// Updates yields each event after a seq, first those in the log, then each as it becomes durable; and from now on the
// deltas of the model's replies. No event is missing, none comes twice; deltas are left out for who reads slowly. It ends
// when the session is closed, and with an error when ctx ends or the log cannot be read.
func (s *Session) Updates(ctx context.Context, after int64) iter.Seq2[engine.Update, error] {
	return s.home.updates(ctx, s.id, after, s.over)
}

// Append adds events of the program's own, in one commit, between two steps of the session's loop, and returns the head
// then. What does not fit the session is refused whole, with an error that wraps session.ErrUnfit.
func (s *Session) Append(ctx context.Context, actor store.Actor, bodies ...session.Body) (head store.Head, err error) {
	err = s.do(ctx, func() error {
		err := s.held.Append(ctx, actor, bodies...)
		head = s.held.Head()
		return err
	})
	return head, err
}

// do has work done by the loop.
func (s *Session) do(ctx context.Context, work func() error) error {
	return s.living(ctx, func(ctx context.Context) error { return s.held.Do(ctx, work) })
}

// living asks something of the loop, as long as there is one.
func (s *Session) living(ctx context.Context, ask func(context.Context) error) error {
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	err := ask(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		<-s.over
		return s.gone()
	}
	return err
}

// gone is the error of whoever asks a session that is worked on no more.
func (s *Session) gone() error {
	if s.err != nil {
		return s.err
	}
	return fmt.Errorf("session %s: %w", s.id, engine.ErrReleased)
}

// asking is how far the program was asked about a call, whatever it was when it was shown.
type asking struct {
	bound    store.Digest // of what was shown
	answered bool         // and its answer is in the log
	left     bool         // to somebody else
}

// onRest is called in the loop when nothing can progress without outside input.
func (s *Session) onRest(st *session.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = st.Copy()
	for _, w := range s.home.Waits(st) {
		if s.opt.Approve == nil || w.Kind != "approval" {
			continue
		}
		switch a, known := s.asked[w.Act]; {
		case !known || (a.answered || a.left) && a.bound != w.Bound:
			s.asked[w.Act] = asking{bound: w.Bound}
			go s.ask(s.life, w)
		case a.answered: // it waits all the same: nobody is asked again about what he has answered
			s.asked[w.Act] = asking{bound: a.bound, left: true}
		}
	}
	s.wake()
}

// wake has prompts look again.
func (s *Session) wake() {
	close(s.rested)
	s.rested = make(chan struct{})
}

// ask asks the program about a call, and passes its answer on.
func (s *Session) ask(ctx context.Context, w view.Waiting) {
	a, err := s.opt.Approve(ctx, w)
	if err == nil {
		err = s.home.Approve(ctx, w, a)
	}
	s.mu.Lock()
	s.asked[w.Act] = asking{bound: w.Bound, answered: err == nil, left: err != nil}
	s.wake()
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		s.home.cfg.Log.Warn("a call still waits for its approval", "session", s.id, "act", w.Act, "error", err)
	}
}

// rests says why a turn rests, if it does; it does not while the program is asked about a call, unless something else is
// needed as well.
func (s *Session) rests(st *session.State) (reason string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	under := 0
	for _, w := range s.home.Waits(st) {
		a, known := s.asked[w.Act]
		switch {
		case w.Kind != "approval":
			reason = session.TurnWaitingAnswer
		case known && !a.left:
			under++
		default:
			return session.TurnWaitingApproval, true
		}
	}
	if reason == "" && under == 0 {
		reason, _ = restReason(st)
	}
	return reason, reason != ""
}
