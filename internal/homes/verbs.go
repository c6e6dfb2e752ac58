package homes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// How often a sender looks whether its item was taken, and a follower whether the log grew.
const (
	pollEvery = 20 * time.Millisecond // where the store does not tell of changes
	idleEvery = 5 * time.Second       // where it does
)

// Send brings a message to a session as a turn of its own. It is accepted durably when Send returns; it runs when a
// holder runs the session. The same key and text again give the same receipt. Errors: engine.ErrRefused for a text
// without words, and besides engine.ErrClosed for a session that was closed.
func (h *Home) Send(ctx context.Context, id, key, text string, more ...model.Part) (store.Receipt, error) {
	return h.accept(ctx, id, key, &session.MessageReceived{Content: append([]model.Part{model.TextPart(text)}, more...)})
}

// Withdraw takes back a message that was sent under a key and whose turn has not begun. Errors: engine.ErrRefused when
// no such message waits.
func (h *Home) Withdraw(ctx context.Context, id, key string) error {
	return h.Deliver(ctx, id, "", &session.MessageWithdrawn{Key: key})
}

// Answer answers the question that an act asked.
func (h *Home) Answer(ctx context.Context, id, act, text string) error {
	return h.Deliver(ctx, id, "", &session.QuestionAnswered{Act: act, Text: text})
}

// Approval is a person's answer to a call that waits for one.
type Approval struct {
	Allow   bool
	Grant   string // a rule that is allowed from now on for the session's life; empty: only this call
	Message string // words for the model with a refusal
}

// Approve answers a call that waits for an approval: its Session, Act and Bound are read. If the call is no longer what
// was shown, as Bound says, the answer is refused: the error wraps engine.ErrRefused.
func (h *Home) Approve(ctx context.Context, w view.Waiting, a Approval) error {
	st, err := h.State(ctx, w.Session)
	if err != nil {
		return err
	}
	answer := &session.ApprovalAnswered{Act: w.Act, Allow: a.Allow, Bound: w.Bound, Grant: a.Grant, Message: a.Message}
	if c := st.Call(w.Act); c != nil && c.Approval != nil && c.Approval.Bound == w.Bound {
		answer.Pre = c.Approval.Pre
	}
	return h.Deliver(ctx, w.Session, "", answer)
}

// Cancel asks to end a session's open turn.
func (h *Home) Cancel(ctx context.Context, id string) error {
	return h.Deliver(ctx, id, "", &session.CancelRequested{})
}

// accept puts a body into the inbox.
func (h *Home) accept(ctx context.Context, id, key string, body session.Body) (store.Receipt, error) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return store.Receipt{}, err
	}
	return h.acceptFor(ctx, info, key, body)
}

// acceptFor is accept for a session that was looked at just now.
func (h *Home) acceptFor(ctx context.Context, info store.Info, key string, body session.Body) (store.Receipt, error) {
	id := info.ID
	if err := session.CheckNil(body); err != nil {
		return store.Receipt{}, fmt.Errorf("send to session %s: %w", id, err)
	}
	if err := acceptable(info, body); err != nil {
		return store.Receipt{}, err
	}
	if used := session.Redact(body, h.secret.Replace); len(used) > 0 {
		return store.Receipt{}, fmt.Errorf("send to session %s: %w: %s", id, ErrSecret, strings.Join(used, ", "))
	}
	item, err := h.eng.NewItem(key, store.Actor{Type: store.ActorUser, ID: h.user()}, body)
	if err != nil {
		return store.Receipt{}, err
	}
	r, err := h.store.Send(ctx, id, item)
	if err != nil {
		return r, err // it says to whom
	}
	h.eng.Wake(id)
	return r, nil
}

// ErrSecret is the error about a command, an input, a name or a rule that holds the value of a known secret: the log
// must not keep it, and without it it would mean something else. Nothing was sent.
var ErrSecret = errors.New("it holds the value of a secret, which the log must not keep")

// acceptable refuses at once what the session would refuse, as far as its row tells; the holder looks again.
func acceptable(info store.Info, body session.Body) error {
	id := info.ID
	if b, ok := body.(*session.MessageReceived); ok && session.Blank(b.Content) {
		return fmt.Errorf("send to session %s: %w: a message without words", id, engine.ErrRefused)
	}
	if err := session.Sound(body); err != nil {
		return fmt.Errorf("send to session %s: %w: %w", id, engine.ErrRefused, err)
	}
	if err := engine.Takes(session.Lifecycle(info.Heads.Lifecycle), body); err != nil {
		return fmt.Errorf("send to session %s: %w: %w", id, engine.ErrRefused, err)
	}
	return nil
}

// Hide gives a text with every known secret replaced by its name. Replace first, then cut: half a secret is not known.
func (h *Home) Hide(text string) string { return string(h.secret.Replace([]byte(text))) }

// Redact is Hide for what leaves the home: what looks like a well-known key is replaced too, and all of it counted.
func (h *Home) Redact(text string) (string, int) {
	b, n := h.redactBytes([]byte(text))
	return string(b), n
}

// redactBytes is Redact of bytes, which are given back as they are if there is nothing to replace.
func (h *Home) redactBytes(text []byte) ([]byte, int) {
	known := h.secret.Count(text)
	b, shaped := redact.Shapes(h.secret.Replace(text))
	return b, known + shaped
}

// Hides reports whether a text holds a known secret: it would not be kept as it is.
func (h *Home) Hides(text []byte) bool { return string(h.secret.Replace(text)) != string(text) }

// Deliver puts a body into a session's inbox and waits until it is in the log: a live holder takes it, else this
// process takes the lease for just that. An item that the session refuses gives an error that wraps
// engine.ErrRefused.
func (h *Home) Deliver(ctx context.Context, id, key string, body session.Body) error {
	return h.deliver(ctx, id, key, body, engine.Options{})
}

// deliver is Deliver that opens a session nobody holds with options.
func (h *Home) deliver(ctx context.Context, id, key string, body session.Body, opt engine.Options) error {
	before, err := h.store.Get(ctx, id)
	if err != nil {
		return err
	}
	receipt, err := h.acceptFor(ctx, before, key, body)
	if err != nil {
		return err
	}
	if err := h.taken(ctx, id, receipt.N, opt); err != nil {
		return err
	}
	return h.refusal(ctx, id, receipt.Key, before.Head.Seq)
}

// DeliverAll is Deliver for several bodies, which are taken together: what they ask for is under way at once. An error
// that wraps engine.ErrRefused is about some of them; the others were taken.
func (h *Home) DeliverAll(ctx context.Context, id string, bodies ...session.Body) error {
	before, err := h.store.Get(ctx, id)
	if err != nil {
		return err
	}
	receipts := make([]store.Receipt, len(bodies))
	for i, body := range bodies {
		if receipts[i], err = h.accept(ctx, id, "", body); err != nil {
			return err
		}
	}
	var refused []error
	for i := range receipts {
		if i == 0 {
			if err := h.taken(ctx, id, receipts[len(receipts)-1].N, engine.Options{}); err != nil {
				return err
			}
		}
		refused = append(refused, h.refusal(ctx, id, receipts[i].Key, before.Head.Seq))
	}
	return errors.Join(refused...)
}

// taken waits until an inbox item is in the log: a live holder takes it, else this process does.
func (h *Home) taken(ctx context.Context, id string, n int64, opt engine.Options) error {
	var changed <-chan struct{}
	every := pollEvery
	for {
		looked := h.eng.Taken(id) // before the look at the row, so that nothing is missed between them
		info, err := h.store.Get(ctx, id)
		if err != nil {
			return err
		}
		if info.Mark >= n {
			return nil
		}
		if info.Holder == nil || info.Holder.Alive == store.Dead {
			if err := h.drainOnce(ctx, id, opt); !errors.Is(err, store.ErrHeld) {
				return err // drained: the item was there before
			}
		}
		if changed == nil {
			var stop func()
			changed, stop, every = h.changes(id)
			defer stop()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("session %s: the item was accepted and waits for the holder: %w", id, ctx.Err())
		case <-looked:
		case <-changed:
		case <-time.After(min(every, 10*pollEvery)): // the holder may die
		}
	}
}

// drainOnce takes the lease, drains the inbox, starts and ends tasks as asked for, and gives the lease back. A live
// holder gives store.ErrHeld.
func (h *Home) drainOnce(ctx context.Context, id string, opt engine.Options) error {
	s, err := h.open(ctx, id, opt)
	if err != nil {
		return err
	}
	err = s.Drain(ctx)
	if err == nil {
		err = s.TendTasks(ctx)
	}
	return errors.Join(err, s.Close(ctx, "drained"))
}

// refusal looks whether the item of that key was refused since a seq.
func (h *Home) refusal(ctx context.Context, id, key string, since int64) error {
	for ev, err := range h.store.Read(ctx, id, since+1, 0) {
		if err != nil {
			return err
		}
		if ev.Kind != session.KindInboxRefused {
			continue
		}
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		if b, ok := body.(*session.InboxRefused); ok && b.Key == key {
			return fmt.Errorf("session %s: %w: %s", id, engine.ErrRefused, b.Reason)
		}
	}
	return nil
}

// user is who acts for this process.
func (h *Home) user() string {
	for _, name := range []string{"USER", "LOGNAME"} {
		if v := h.getenv(name); v != "" {
			return v
		}
	}
	return ""
}
