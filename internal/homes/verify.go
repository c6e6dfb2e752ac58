package homes

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// maxVerifyFaults bounds how many faults a verification lists.
const maxVerifyFaults = 100

// Verify checks a session from its first event: that every event follows from the one before it, that every body is
// what its digest says, that the log folds without faults, that the state from snapshots equals the one from the log,
// that a fork's parent still has the events it was forked from, and that what is listed of the session was so at some
// event. It returns the faults, none if all is well.
func (h *Home) Verify(ctx context.Context, id string) ([]string, error) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	v := &verification{home: h, info: info}
	st, err := v.start(ctx)
	if err != nil {
		return nil, err
	}
	v.walk(ctx, st)
	v.compareListing(st)
	if st.Head != info.Head {
		v.fault("log ends at %d with hash %s, the session's row says %d, %s", st.Head.Seq, short(st.Head.Hash), info.Head.Seq, short(info.Head.Hash))
	}
	for _, f := range st.Faults {
		v.fault("%s", f)
	}
	if cached, err := h.eng.Load(ctx, id); err == nil && !session.Equal(cached, st) {
		v.fault("state from the snapshot differs from the state of the log")
	}
	return v.faults, nil
}

type verification struct {
	home   *Home
	info   store.Info
	faults []string
	listed bool // the listing is that of some event
}

func (v *verification) fault(format string, args ...any) {
	if len(v.faults) < maxVerifyFaults {
		v.faults = append(v.faults, fmt.Sprintf(format, args...))
	}
}

func short(d store.Digest) string { return d.String()[:12] }

// start gives the state before the first own event.
func (v *verification) start(ctx context.Context) (*session.State, error) {
	if v.info.Parent == nil {
		return session.New(v.info.ID), nil
	}
	parent, err := v.home.eng.LoadAt(ctx, v.info.Parent.Session, v.info.Parent.Seq, false)
	if err != nil {
		return nil, fmt.Errorf("parent of %s: %w", v.info.ID, err)
	}
	if parent.Head.Hash != v.info.Parent.Hash {
		v.fault("parent %s differs at event %d from what was forked", v.info.Parent.Session, v.info.Parent.Seq)
	}
	return session.Fork(parent, v.info.ID), nil
}

// walk verifies and folds every event; the first damaged one ends it, since nothing after it can be trusted to follow.
func (v *verification) walk(ctx context.Context, st *session.State) {
	work := v.home.Progress().Begin("verifying events", "")
	defer work.End()
	work.Set(0, v.info.Head.Seq)
	for ev, err := range v.home.store.Read(ctx, v.info.ID, 1, 0) {
		work.Add(1, int64(len(ev.Body)))
		if err != nil {
			var corrupt *store.CorruptError
			if errors.As(err, &corrupt) {
				v.fault("event %d is damaged: %v", corrupt.Seq, corrupt.Cause)
				return
			}
			v.fault("read: %v", err)
			return
		}
		if err := store.Verify(st.Head.Hash, v.info.ID, ev); err != nil {
			v.fault("%v", err)
			return
		}
		if err := st.Apply(ev); err != nil {
			v.fault("%v", err)
			return
		}
		v.listed = v.listed || v.isListed(st)
	}
}

// isListed reports whether the listing's copy is of this state. Nothing is said of what it carries besides.
func (v *verification) isListed(st *session.State) bool {
	is, want := v.info.Heads, engine.Heads(st)
	is.Extra, want.Extra = nil, nil
	if len(is.Labels)+len(want.Labels) == 0 {
		is.Labels, want.Labels = nil, nil
	}
	return reflect.DeepEqual(is, want)
}

// compareListing says what is listed of a session and does not follow from its log. A listing may be of an older event:
// it is written with the next one.
func (v *verification) compareListing(st *session.State) {
	if v.info.Damaged != "" {
		v.fault("%s", v.info.Damaged)
	}
	if len(v.faults) > 0 {
		return // it may be of an event that could not be read
	}
	if !v.listed {
		v.fault("what is listed of it (name, directory, model, costs) was so at no event of the log")
	}
	if v.info.Owner != st.Owner || v.info.Created != st.Created {
		v.fault("owner or age are listed otherwise than the log has them")
	}
}
