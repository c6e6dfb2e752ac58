package homes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// captures is what keeps the files of this home's sessions; nil: nothing is captured, and nothing can be restored.
func (h *Home) captures() engine.Captures { return h.cfg.captures }

// ErrNotCaptured is wrapped by the error of a checkpoint that could not be made; the text says why.
var ErrNotCaptured = errors.New("the files were not captured")

// ErrNotRestored is wrapped by the error of a restore that was not done; the text says why, and what the files are now.
var ErrNotRestored = errors.New("the files were not restored")

// ErrFilesWait is wrapped by the error of a wish about files that is in the log and cannot be done before the session goes
// on: an act that was interrupted may be changing them. Whoever runs the session does it.
var ErrFilesWait = errors.New("it waits for an act that was interrupted: it is done when the session goes on")

// Checkpoint gives the files of a session, as they are, a name. They are captured at once, or, while an act runs that may
// change them, at its end. Errors: engine.ErrRefused for a name that cannot be, or is taken, ErrNotCaptured, ErrFilesWait,
// store.ErrNotFound, and of ctx: the wish was accepted then.
func (h *Home) Checkpoint(ctx context.Context, id, name string) (session.Checkpoint, error) {
	var out session.Checkpoint
	err := h.askFiles(ctx, id, &session.CheckpointRequested{Name: name}, func(ev store.Event, body session.Body, request int64) (bool, error) {
		b, ok := body.(*session.FilesCaptured)
		if !ok || b.Request != request {
			return false, nil
		}
		if b.Refused != "" {
			return true, fmt.Errorf("session %s: %w: %s", id, ErrNotCaptured, b.Refused)
		}
		out = session.Checkpoint{Name: b.Name, Seq: ev.Seq, Dir: b.Dir, Tree: b.Tree, Time: ev.Time}
		return true, nil
	})
	return out, err
}

// RestoreFiles makes the files of a session what they were: in r.Target, or, with r.Undo, at the point of that seq in
// [session.Workspace]. A person asked for it; what is there is captured first. It returns what was done, which is
// something also with ErrNotRestored. Errors: engine.ErrRefused while somebody runs a turn, and when there is nothing
// to go back to, ErrNotRestored, ErrFilesWait, store.ErrNotFound, and of ctx: the wish was accepted then.
func (h *Home) RestoreFiles(ctx context.Context, id string, r session.RestoreRequested) (session.FilesRestored, error) {
	var out session.FilesRestored
	if err := h.SettleLeft(ctx, id); err != nil {
		return out, err
	}
	err := h.askFiles(ctx, id, &r, func(_ store.Event, body session.Body, request int64) (bool, error) {
		b, ok := body.(*session.FilesRestored)
		if !ok || b.Request != request {
			return false, nil
		}
		out = *b
		return true, outcomeOf(id, b)
	})
	return out, err
}

// outcomeOf is the error of a restore that was not done.
func outcomeOf(id string, b *session.FilesRestored) error {
	switch b.Outcome {
	case session.RestoreDone:
		return nil
	case session.RestoreUndone:
		return fmt.Errorf("session %s: %w, they are as they were: %s", id, ErrNotRestored, b.Error)
	}
	return fmt.Errorf("session %s: %w: %s", id, ErrNotRestored, b.Error)
}

// SettleLeft finds out what a turn's acts have done to files whose process is gone, and captures that, so that it can be
// undone; nothing goes on, and a command that still runs is left alone. A session that somebody holds, or in which nothing
// is open, stays as it is. What cannot be found out is no error here: it is as unknown as before.
func (h *Home) SettleLeft(ctx context.Context, id string) error {
	st, err := h.State(ctx, id)
	if err != nil || h.captures() == nil || st.Turn == nil || st.ReadOnly != "" || st.SettledNow() && st.Workspace.Unsure == 0 {
		return err
	}
	s, err := h.open(ctx, id, engine.Options{})
	if errors.Is(err, store.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.Drain(ctx); err != nil {
		return errors.Join(err, s.Close(ctx, "drained"))
	}
	if err := s.SettleLeft(ctx); err != nil && ctx.Err() == nil {
		h.cfg.Log.Warn("what an interrupted turn has done could not be found out", "session", id, "error", err)
	}
	return errors.Join(ctx.Err(), s.Close(ctx, "settled"))
}

// FinishRestore does what is left of a restore whose process is gone, and returns what was asked for and what was done;
// nil if there is none, or if a live holder is at it. Errors are those of [Home.RestoreFiles].
func (h *Home) FinishRestore(ctx context.Context, id string) (*session.Restore, session.FilesRestored, error) {
	st, err := h.State(ctx, id)
	if err != nil || st.Workspace.Restore == nil {
		return nil, session.FilesRestored{}, err
	}
	r := *st.Workspace.Restore
	if r.Dir == "" {
		r.Dir = filesDir(st)
	}
	if err := h.drainOnce(ctx, id, engine.Options{}); err != nil {
		if errors.Is(err, store.ErrHeld) {
			err = nil
		}
		return nil, session.FilesRestored{}, err
	}
	for ev, err := range h.Range(ctx, id, Range{Kinds: []store.Kind{session.KindFilesRestored}, Reverse: true}) {
		if err != nil {
			return nil, session.FilesRestored{}, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, session.FilesRestored{}, err
		}
		if b, ok := body.(*session.FilesRestored); ok && b.Request == r.Request {
			return &r, *b, outcomeOf(id, b)
		}
		if ev.Seq < r.Request {
			break
		}
	}
	return nil, session.FilesRestored{}, fmt.Errorf("session %s: %w", id, ErrFilesWait)
}

// askFiles brings a wish about files to a session and waits for its answer: of a live holder, else of this process.
func (h *Home) askFiles(ctx context.Context, id string, wish session.Body, answers func(ev store.Event, body session.Body, request int64) (bool, error)) error {
	before, err := h.store.Get(ctx, id)
	if err != nil {
		return err
	}
	key := h.eng.NewKey()
	if err := h.Deliver(ctx, id, key, wish); err != nil {
		return err
	}
	changed, stop, every := h.changes(id)
	defer stop()
	w := wanted{key: key, next: before.Head.Seq + 1, answers: answers}
	for drained := false; ; {
		info, err := h.store.Get(ctx, id)
		if err != nil {
			return err
		}
		if done, err := w.look(ctx, h.store, id); done || err != nil {
			return err
		}
		if info.Holder == nil || info.Holder.Alive == store.Dead {
			if drained {
				return fmt.Errorf("session %s: %w", id, ErrFilesWait)
			}
			err := h.drainOnce(ctx, id, engine.Options{})
			drained = err == nil
			if err != nil && !errors.Is(err, store.ErrHeld) {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("session %s: the wish was accepted and waits for the holder: %w", id, ctx.Err())
		case <-changed:
		case <-time.After(min(every, 10*pollEvery)): // the holder may die
		}
	}
}

// wanted is a wish about files that is looked for in a log, and then its answer.
type wanted struct {
	key     string
	next    int64 // seq of the event that is looked at next
	request int64 // of the wish; 0: it was not found yet
	answers func(ev store.Event, body session.Body, request int64) (bool, error)
}

// look reads what is new in the log.
func (w *wanted) look(ctx context.Context, st store.Store, id string) (bool, error) {
	for ev, err := range st.Read(ctx, id, w.next, 0) {
		if err != nil {
			return false, err
		}
		w.next = ev.Seq + 1
		body, err := session.Decode(ev)
		if err != nil {
			return false, err
		}
		switch b := body.(type) {
		case *session.CheckpointRequested:
			if b.Key == w.key {
				w.request = ev.Seq
			}
		case *session.RestoreRequested:
			if b.Key == w.key {
				w.request = ev.Seq
			}
		default:
			if w.request == 0 {
				continue
			}
			if done, err := w.answers(ev, body, w.request); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

// Checkpoint is [Home.Checkpoint] of the session that this process holds.
func (s *Session) Checkpoint(ctx context.Context, name string) (session.Checkpoint, error) {
	return s.home.Checkpoint(ctx, s.id, name)
}

// RestoreFiles is [Home.RestoreFiles] of the session that this process holds. What is open goes on only if it did before.
func (s *Session) RestoreFiles(ctx context.Context, r session.RestoreRequested) (session.FilesRestored, error) {
	return s.home.RestoreFiles(ctx, s.id, r)
}
