package homes

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// RunOptions are what a run is started with.
type RunOptions struct {
	engine.Options
	Prompt    string               // empty: finish what is open and what was accepted, nothing new
	Key       string               // idempotency key of the prompt; empty: a new one
	Interrupt <-chan struct{}      // each receive cancels the open turn; never closed
	Ended     func(*view.Result)   // called with what Run will return, before the session leaves its handoff, which may take a while and costs what Run's result has besides
	Opened    func(*session.State) // called once the session is held; the state must only be read, and not kept
	TurnEnded func(view.Turn)      // called as each turn ends; must not block
	Wait      bool                 // do not end while the model is to be told of something, or a human is needed; see [Home.Run]
	Titles    bool                 // with Wait: the model is asked for a title, as [HoldOptions] has it; the run ends after that
	Asleep    func(*view.Result)   // called each time that it goes to sleep for that, with what Run would return; must not block
}

// Run takes a session's lease and runs it until it is idle or needs a human: first it settles what an earlier holder
// left open and finishes the open turn, then it runs accepted messages, then the prompt. When ctx ends it parks: the
// turn stays open, commands run on, and the result's stop reason is "parked".
//
// With Wait, the session is held and nothing is asked of a model while it awaits something: what is met, a message, an
// answer or an approval starts or continues a turn. It ends when nothing is awaited any more, when a limit has halted the
// turn, or by an interrupt, which leaves the awaits open.
//
// Errors: store.ErrNotFound, *store.HeldError, store.ErrUncertain, *store.CorruptError.
func (h *Home) Run(ctx context.Context, id string, opt RunOptions) (*view.Result, error) {
	opt.NewPrompt = opt.Prompt != ""
	if opt.NewPrompt && session.Blank([]model.Part{model.TextPart(opt.Prompt)}) {
		return nil, fmt.Errorf("run session %s: %w: a prompt without words", id, engine.ErrRefused)
	}
	began := h.cfg.Now()
	watch := &turnWatch{ended: opt.TurnEnded}
	defer h.looks.add(id, watch.see)()
	s, err := h.open(ctx, id, opt.Options)
	if err != nil {
		return nil, err
	}
	turns := s.State().Turns
	open := s.State().Turn != nil
	if open && s.State().Turn.Step > 0 {
		if t, err := s.Transcript(ctx); err == nil { // an error is met again, by the next model call or at the end
			watch.say(t.LastText())
		}
	}
	changed := h.changedFiles(s.State())
	s.Titles(opt.Titles && opt.Wait)
	if opt.Opened != nil {
		opt.Opened(s.State())
	}
	if err := h.begin(ctx, s, opt); err != nil {
		return nil, errors.Join(err, s.Close(ctx, "error"))
	}
	runErr := runInterruptible(ctx, s, opt.Interrupt, func(ctx context.Context) error {
		if !opt.Wait {
			return s.Run(ctx)
		}
		return s.RunWaiting(ctx, h.asleep(ctx, s, opt, turns, open, func(r *view.Result) { count(r, watch, h.cfg.Now().Sub(began)) }))
	})
	parked := errors.Is(runErr, engine.ErrParked)
	if runErr != nil && !parked {
		return nil, errors.Join(runErr, closeUnless(ctx, s, runErr))
	}
	r, err := h.result(context.WithoutCancel(ctx), s, turns, open, parked)
	if r != nil {
		r.Recovered = append(r.Recovered, changed...)
		count(r, watch, h.cfg.Now().Sub(began))
	}
	if err == nil && opt.Ended != nil {
		opt.Ended(r)
	}
	reason := "done"
	if parked {
		reason = "parked"
	}
	before := spentBy(s.State())
	if lerr := runInterruptible(ctx, s, opt.Interrupt, func(ctx context.Context) error { return h.leave(ctx, s, parked) }); err == nil {
		err = lerr
	}
	if r != nil {
		before.charge(r, s.State())
	}
	return r, errors.Join(err, s.Close(ctx, reason))
}

// begin brings the prompt, or lets a halted turn go on.
func (h *Home) begin(ctx context.Context, s *engine.Session, opt RunOptions) error {
	if opt.Prompt == "" {
		return s.Resume(ctx, opt.Actor)
	}
	_, err := h.Send(ctx, s.State().ID, opt.Key, opt.Prompt)
	return err
}

// asleep passes on what a run has come to when it goes to sleep.
func (h *Home) asleep(ctx context.Context, s *engine.Session, opt RunOptions, turns int, open bool, count func(*view.Result)) func(*session.State) {
	if opt.Asleep == nil {
		return nil
	}
	return func(*session.State) {
		// An error is one of reading the conversation: it is met again by the next model call, or by the end of the run.
		if r, err := h.result(context.WithoutCancel(ctx), s, turns, open, false); err == nil {
			count(r)
			opt.Asleep(r)
		}
	}
}

// closeUnless gives the lease back, after an error too, but for one of an uncertain store, which must not be touched
// any more.
func closeUnless(ctx context.Context, s *engine.Session, cause error) error {
	if errors.Is(cause, store.ErrUncertain) {
		return nil
	}
	if cause == nil {
		return s.Close(ctx, "done")
	}
	return s.Close(ctx, "error")
}

// runInterruptible runs the session and passes interrupts to it.
func runInterruptible(ctx context.Context, s *engine.Session, interrupt <-chan struct{}, run func(context.Context) error) error {
	running, over := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-running.Done():
				return
			case <-interrupt:
				// An error means that the run is over, which is what was asked for.
				_ = s.Interrupt(running, store.Actor{Type: store.ActorUser})
			}
		}
	}()
	err := run(ctx)
	over()
	<-stopped
	return err
}
