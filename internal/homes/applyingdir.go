package homes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/workspace"
)

// ErrNotApplied is wrapped by the error about a directory to which nothing was applied that could be taken back.
var ErrNotApplied = errors.New("nothing was applied there that can be taken back")

// ErrApplyOpen is wrapped by the error about a directory in which an apply was interrupted: it is settled first.
var ErrApplyOpen = errors.New("it was interrupted, and is to be finished or taken back first")

// ApplyToDir merges a branch's changes into a directory with no session. What is there is captured first, the plan is
// durable before a file is touched, and [Home.Unapply] takes it back. If this process is killed, [Home.SettleApply] goes
// on. Errors: ErrApplyOpen.
func (h *Home) ApplyToDir(ctx context.Context, b *Branch, dir string, force bool) (Applied, error) {
	a, err := h.openApplies(ctx, dir)
	if err != nil {
		return Applied{}, err
	}
	defer a.close()
	return h.beginApply(ctx, a, Applied{Session: b.Session, Dir: dir, Base: b.Base, Target: b.Now.Tree, Force: force})
}

// OpenApply is the apply to a directory that was interrupted, or that another process is at just now; nil: there is none.
func (h *Home) OpenApply(ctx context.Context, dir string) (*Applied, error) {
	return h.withApplies(ctx, dir, func(a *applies) (*Applied, error) { return a.open(), nil })
}

// SettleApply finishes the apply to a directory that was interrupted, or with back takes it back, and returns what it
// was and what was done; nil: there is none. An error says that it is still open, unless the record has it no more:
// then it can be neither finished nor taken back.
func (h *Home) SettleApply(ctx context.Context, dir string, back bool) (*Applied, error) {
	return h.withApplies(ctx, dir, func(a *applies) (*Applied, error) {
		r := a.open()
		if r == nil {
			return nil, nil //nolint:nilnil // there is none
		}
		was := *r
		if back && was.Undo == "" && was.Stage == ApplyStarted {
			was.Stage = ApplyBack
			if err := a.put(was); err != nil {
				return nil, err
			}
		}
		done, err := h.finishApply(ctx, a, was)
		if errors.Is(err, restore.ErrMoved) || errors.Is(err, fs.ErrNotExist) {
			err = errors.Join(fmt.Errorf("%s to %s was interrupted, and can be neither finished nor taken back: %w", was.Words(), dir, err), a.drop(was.ID))
		}
		return &done, err
	})
}

// LastApply is the newest apply to a directory that can be taken back. Errors: ErrNotApplied.
func (h *Home) LastApply(ctx context.Context, dir string) (Applied, error) {
	r, err := h.withApplies(ctx, dir, func(a *applies) (*Applied, error) {
		for i := len(a.all) - 1; i >= 0; i-- {
			if r := &a.all[i]; r.Stage == ApplyDone && !r.old(h.cfg.Now()) {
				return r, nil
			}
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotApplied)
	})
	if err != nil {
		return Applied{}, err
	}
	return *r, nil
}

// withApplies calls do with a directory's records.
func (h *Home) withApplies(ctx context.Context, dir string, do func(*applies) (*Applied, error)) (*Applied, error) {
	if h.spaces == nil {
		return nil, errOff
	}
	a, err := h.openApplies(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer a.close()
	return do(a)
}

// PlanUnapply says what taking an apply back would do now. What was changed since then in another way stays.
func (h *Home) PlanUnapply(ctx context.Context, r Applied) (*workspace.Planned, error) {
	return roomy(ctx, h, "", func() (*workspace.Planned, error) {
		return h.spaces.Plan(ctx, engine.RestoreRequest{Dir: r.Dir, Base: r.After, Target: r.Before}, nil)
	})
}

// Unapply takes an apply back: it is [Home.LastApply] of its directory. It is journalled as the apply was. Errors:
// ErrNotApplied, ErrApplyOpen.
func (h *Home) Unapply(ctx context.Context, r Applied) (Applied, error) {
	a, err := h.openApplies(ctx, r.Dir)
	if err != nil {
		return Applied{}, err
	}
	defer a.close()
	if n := len(a.all); n == 0 || a.all[n-1].ID != r.ID {
		return Applied{}, fmt.Errorf("%s: what is to be taken back is not what was applied last: %w", r.Dir, ErrNotApplied)
	}
	return h.beginApply(ctx, a, Applied{Session: r.Session, Dir: r.Dir, Base: r.After, Target: r.Before, Undo: r.ID})
}

// request is what an apply is to the workspaces. No session has a name with a blank.
func (a *Applied) request() engine.RestoreRequest {
	return engine.RestoreRequest{
		Session: "apply " + a.ID, ID: a.ID, Dir: a.Dir, Base: a.Base, Before: a.Before, Target: a.Target, Force: a.Force, Merge: true,
	}
}

// beginApply makes the plan durable, then the record that says so, and does it.
func (h *Home) beginApply(ctx context.Context, a *applies, r Applied) (Applied, error) {
	if o := a.open(); o != nil {
		return r, fmt.Errorf("%s to %s: %w", o.Words(), o.Dir, ErrApplyOpen)
	}
	r.ID, r.Time, r.Stage = h.eng.NewKey(), h.cfg.Now().UnixMilli(), ApplyPlanned
	if err := a.put(r); err != nil {
		return r, err
	}
	h.step("apply planned")
	p, err := roomy(ctx, h, "", func() (engine.Prepared, error) { return h.spaces.Prepare(ctx, r.request(), nil) })
	if err != nil {
		return r, errors.Join(err, a.drop(r.ID))
	}
	defer p.Release()
	h.step("apply prepared")
	r.Before, r.Stage = p.Before.Tree, ApplyStarted
	if err := a.put(r); err != nil {
		return r, errors.Join(err, h.spaces.Abandon(context.WithoutCancel(ctx), r.request()))
	}
	h.step("apply started")
	return h.finishApply(ctx, a, r)
}

// finishApply does what is left. What cannot be finished is taken back.
func (h *Home) finishApply(ctx context.Context, a *applies, r Applied) (Applied, error) {
	if r.Stage == ApplyStarted {
		got, err := roomy(ctx, h, "", func() (engine.Restored, error) { return h.spaces.Finish(ctx, r.request()) })
		if err == nil {
			return h.endApply(a, r, got)
		}
		if ctx.Err() != nil {
			return r, err
		}
		r.Stage = ApplyBack
		if putErr := a.put(r); putErr != nil {
			return r, errors.Join(err, putErr)
		}
		h.step("apply back")
		if backErr := h.spaces.Abandon(context.WithoutCancel(ctx), r.request()); backErr != nil {
			return r, errors.Join(err, fmt.Errorf("and it could not be taken back: %w", backErr))
		}
		return r, errors.Join(fmt.Errorf("%w; the files are as they were", err), a.drop(r.ID))
	}
	err := h.spaces.Abandon(context.WithoutCancel(ctx), r.request())
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it has no journal yet, or no more
		return r, err
	}
	return r, a.drop(r.ID)
}

// endApply writes down that it is done.
func (h *Home) endApply(a *applies, r Applied, got engine.Restored) (Applied, error) {
	h.step("apply finished")
	r.After, r.RestoreCounts, r.Kept, r.Stage = got.Tree, got.Counts, got.Kept, ApplyDone
	var err error
	if r.Undo == "" {
		if err = a.put(r); err == nil {
			err = a.thin(h.cfg.Now())
		}
	} else if err = a.drop(r.Undo); err == nil {
		h.step("apply forgotten")
		err = a.drop(r.ID)
	}
	if err == nil {
		got.Release() // else it is looked at again
	}
	return r, err
}
