package perdure

import (
	"context"
	"iter"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// HoldOptions are what a session is held with.
type HoldOptions struct {
	Options
	NewPrompt bool // a prompt follows: a turn that a limit or a failed model call has halted is given up
	// Approve, if not nil, is asked about each call that waits for an approval, beside the session's loop; several may
	// be asked at once, and the turn does not rest meanwhile. Its context ends with the session. An error leaves the
	// call waiting for somebody else.
	Approve func(ctx context.Context, w Waiting) (Approval, error)
	// Still has nothing started before [Session.Continue], a message, an answer or an approval through this Session:
	// what was left open is settled and shown. So a program can show a session before it costs anything.
	Still bool
}

// Session is a session that this process holds, for a program that stays with it: a terminal, a server. It works on
// beside the program, from its first moment until Close: what an earlier holder left open is settled, the open turn and
// messages that wait go on. It is safe for concurrent use.
type Session struct{ in *homes.Session }

// Hold takes a session's lease and works on it beside the program until Close. Errors: store.ErrNotFound,
// *store.HeldError, store.ErrUncertain, *store.CorruptError.
func (h *Home) Hold(ctx context.Context, id string, opt HoldOptions) (*Session, error) {
	in := homes.HoldOptions{Options: opt.inner()}
	in.NewPrompt, in.Still = opt.NewPrompt, opt.Still
	if opt.Approve != nil {
		in.Approve = func(ctx context.Context, w Waiting) (homes.Approval, error) {
			a, err := opt.Approve(ctx, w)
			return homes.Approval(a), err
		}
	}
	s, err := h.in.Hold(ctx, id, in)
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// Prompt brings a message and waits for its turn to end, or to rest: the stop reason then says what for, as that of
// [view.Result] does, and the turn goes on with an answer, an approval or [Session.Continue]: its end is an event
// turn.ended among the [Session.Updates]. It does not rest while HoldOptions.Approve is asked, nor while a model that
// cannot be reached is waited for: see Options.RetryFor. A turn that a limit or a failed model call has halted is given
// up. What was accepted runs whatever becomes of the wait. Errors: ErrRefused, ErrSecret, of ctx, and of the session's
// end.
func (s *Session) Prompt(ctx context.Context, text string) (view.Turn, error) {
	return s.in.Prompt(ctx, text)
}

// Send brings a message, which is durable when Send returns and runs as a turn of its own when those before it are over.
// Parts may follow the text, such as images. The same key and content again do nothing more. A turn that a limit or a
// failed model call has halted is given up. Errors: ErrRefused, ErrSecret, of ctx, and of the session's end.
func (s *Session) Send(ctx context.Context, key, text string, more ...model.Part) error {
	return s.in.Send(ctx, key, text, more...)
}

// Configure applies options to the session, as its opening does: another mode, model, limit or directory. Errors: of
// ctx, and of the session's end.
func (s *Session) Configure(ctx context.Context, opt Options) error {
	return s.in.Configure(ctx, opt.inner())
}

// Continue lets a turn go on that a limit or a failed model call has halted: steps are counted anew, the call is made
// once more. A session that was held Still goes on with what is open and what waits.
func (s *Session) Continue(ctx context.Context) error { return s.in.Continue(ctx) }

// Interrupt cancels the open turn, if there is one: what runs is stopped, and the model is told.
func (s *Session) Interrupt(ctx context.Context) error { return s.in.Interrupt(ctx) }

// Waiting lists what the session needs from humans, as of the newest moment at which nothing could progress without.
func (s *Session) Waiting() []Waiting { return s.in.Waiting() }

// Answer answers the question that an act asked, by the Act of what [Session.Waiting] lists. The turn goes on beside
// the program.
func (s *Session) Answer(ctx context.Context, act, text string) error {
	return s.in.Answer(ctx, act, text)
}

// Approve answers a call that waits for an approval, see [Home.Approve].
func (s *Session) Approve(ctx context.Context, w Waiting, a Approval) error {
	return s.in.Approve(ctx, w, homes.Approval(a))
}

// Updates yields each event after a seq, first those in the log, then each as it becomes durable; and from now on the
// deltas of the model's replies. No event is missing, none comes twice; deltas are left out for who reads slowly. It ends
// when the session is closed, and with an error when ctx ends or the log cannot be read.
func (s *Session) Updates(ctx context.Context, after int64) iter.Seq2[Update, error] {
	return updatesOf(s.in.Updates(ctx, after))
}

// Append adds entries, in one commit, between two steps of the session's loop, and returns the head
// then. What does not fit the session is refused whole: ErrUnfit.
func (s *Session) Append(ctx context.Context, actor store.Actor, entries ...Entry) (store.Head, error) {
	return s.in.Append(ctx, actor, bodiesOf(entries)...)
}

// Done is closed when the session is worked on no more: it was closed, or Err says what went wrong.
func (s *Session) Done() <-chan struct{} { return s.in.Done() }

// Err is why the session is worked on no more; nil as long as it is, and after Close. An error that wraps
// store.ErrUncertain means that this process should end: the next one reads what the log holds.
func (s *Session) Err() error { return s.in.Err() }

// Close gives the session back. An open turn stays open for the next holder, commands run on. It may be called again.
func (s *Session) Close() error { return s.in.Close() }
