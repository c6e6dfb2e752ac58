package homes

import (
	"cmp"
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Prompt brings a message and waits for its turn to end, or to rest: the stop reason then says what for, as that of
// [view.Result] does, and the turn goes on with an answer, an approval or [Session.Continue]. It does not rest while
// HoldOptions.Approve is asked. A turn that a limit or a failed model call has halted is given up. What was accepted
// runs whatever becomes of the wait. Errors: engine.ErrRefused, of ctx, and of the session's end.
func (s *Session) Prompt(ctx context.Context, text string) (view.Turn, error) {
	key := s.home.eng.NewKey()
	p := &prompted{key: key, end: make(chan view.Turn, 1), refused: make(chan string, 1)}
	p.watch = &turnWatch{ended: p.ended}
	defer s.home.looks.add(s.id, p.see)()
	if err := s.Send(ctx, key, text); err != nil {
		return view.Turn{}, err
	}
	for {
		s.mu.Lock()
		rest, rested := s.rest, s.rested
		s.mu.Unlock()
		select {
		case r := <-p.end:
			return r, nil
		default:
		}
		if rest != nil {
			if r, ok := p.resting(rest, s.rests); ok {
				return r, nil
			}
		}
		select {
		case r := <-p.end:
			return r, nil
		case why := <-p.refused:
			return view.Turn{}, fmt.Errorf("session %s: %w: %s", s.id, engine.ErrRefused, why)
		case <-rested:
		case <-s.over:
			return view.Turn{}, s.gone()
		case <-ctx.Done():
			return view.Turn{}, ctx.Err()
		}
	}
}

// Send brings a message, which is durable when Send returns and runs as a turn of its own when those before it are over.
// The same key and text again do nothing more. A turn that a limit or a failed model call has halted is given up.
// Errors: engine.ErrRefused, ErrSecret, of ctx, and of the session's end.
func (s *Session) Send(ctx context.Context, key, text string, more ...model.Part) error {
	if err := s.do(ctx, func() error { return s.held.GiveUp(ctx) }); err != nil {
		return err
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	_, err := s.home.Send(ctx, s.id, key, text, more...)
	return err
}

// Continue lets a turn go on that a limit or a failed model call has halted: steps are counted anew, the call is made
// once more.
func (s *Session) Continue(ctx context.Context) error {
	return s.do(ctx, func() error {
		s.held.Still(false)
		return s.held.Resume(ctx, s.opt.Actor)
	})
}

// Begin lets a session that was held [HoldOptions].Still go on with what is open and what waits.
func (s *Session) Begin(ctx context.Context) error {
	return s.do(ctx, func() error { s.held.Still(false); return nil })
}

// Interrupt cancels the open turn, if there is one: what runs is stopped, and the model is told.
func (s *Session) Interrupt(ctx context.Context) error {
	err := s.living(ctx, func(ctx context.Context) error {
		return s.held.Interrupt(ctx, store.Actor{Type: store.ActorUser, ID: s.home.user()})
	})
	if err != nil {
		return err
	}
	return s.Begin(ctx) // so that a turn ends in which nothing may start
}

// Answer answers the question that an act asked.
func (s *Session) Answer(ctx context.Context, act, text string) error {
	if err := s.home.Answer(ctx, s.id, act, text); err != nil {
		return err
	}
	return s.Begin(ctx)
}

// Approve answers a call that waits for an approval, see [Home.Approve].
func (s *Session) Approve(ctx context.Context, w view.Waiting, a Approval) error {
	w.Session = s.id
	if err := s.home.Approve(ctx, w, a); err != nil {
		return err
	}
	return s.Begin(ctx)
}

// Waiting lists what the session needs from humans, as of the newest moment at which nothing could progress without.
func (s *Session) Waiting() []view.Waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest == nil {
		return nil
	}
	return s.home.Waits(s.rest)
}

// prompted follows a prompt to the end of its turn.
type prompted struct {
	key     string
	watch   *turnWatch
	end     chan view.Turn
	refused chan string

	// of the loop
	seq  int64 // of the message
	turn int
}

// see is called in the loop.
func (p *prompted) see(u engine.Update) {
	switch b := u.Body.(type) {
	case *session.MessageReceived:
		if b.Key == p.key {
			p.watch.mu.Lock()
			p.seq = u.Event.Seq
			p.watch.mu.Unlock()
		}
	case *session.TurnStarted:
		if p.seq != 0 && b.Message == p.seq {
			p.turn = b.N
		}
	case *session.InboxRefused:
		if b.Key == p.key {
			p.refused <- b.Reason
		}
	default:
	}
	p.watch.see(u)
}

func (p *prompted) ended(r view.Turn) {
	if p.turn != 0 && r.Turn == p.turn {
		p.end <- r
	}
}

// resting is the prompt's turn as it rests, if it does.
func (p *prompted) resting(st *session.State, rests func(*session.State) (string, bool)) (view.Turn, bool) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	switch {
	case p.seq == 0 || st.Head.Seq < p.seq:
		return view.Turn{}, false
	case st.Turn == nil: // it waits for its turn in a session that starts none
		reason, _ := st.Halt()
		return view.Turn{StopReason: cmp.Or(reason, session.TurnParked)}, len(st.Queue) > 0
	}
	reason, ok := rests(st)
	r := view.Turn{Turn: st.Turn.N, StopReason: reason}
	if st.Turn.Message == p.seq {
		r.Result = p.watch.text
	}
	return r, ok
}

// Recovered is what was found when the session was opened: what an earlier holder left open and what became of it, tasks
// that run or ended meanwhile, files that changed. It is complete once the session rests.
func (s *Session) Recovered(ctx context.Context) (out []view.Recovery, err error) {
	err = s.do(ctx, func() error {
		out = append(s.home.describe(s.held.Recovered(), s.held.State()), s.changed...)
		return nil
	})
	return out, err
}
