package homes

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/store"
)

// likeness compares the log that a session has here with that of a bundle, hash by hash, while the bundle is read.
type likeness struct {
	info store.Info
	same int64 // events that are the same, from the first on
	err  error // why the log here could not be read
	next func() (store.Event, error, bool)
	stop func() // nil: it is over
}

// liken begins to compare; nil: the session is not here, or has no events.
func (h *Home) liken(ctx context.Context, l bundle.Log) (*likeness, error) {
	info, err := h.store.Get(ctx, l.Session)
	if errors.Is(err, store.ErrNotFound) || err == nil && (info.Head.Seq == 0 || l.Head.Seq == 0) {
		return nil, nil //nolint:nilnil // it is the answer
	}
	if err != nil {
		return nil, err
	}
	k := &likeness{info: info}
	k.next, k.stop = iter.Pull2(h.store.Read(ctx, l.Session, 1, min(info.Head.Seq, l.Head.Seq)))
	return k, nil
}

// meet compares the next event of the bundle.
func (k *likeness) meet(e store.Event) {
	if k == nil || k.stop == nil {
		return
	}
	here, err, ok := k.next()
	if err == nil && ok && here.Hash == e.Hash {
		k.same++
		return
	}
	k.err = err
	k.end()
}

func (k *likeness) end() {
	if k != nil && k.stop != nil {
		k.stop()
		k.stop = nil
	}
}

// further has a session come back whose log here is what its log in the bundle begins with. Of what a fork inherits nothing
// is brought that way: it would end here where the fork was made.
func (a *Arrival) further(ctx context.Context, l *arrived, last bool) error {
	k := l.like
	switch {
	case k.err != nil:
		return fmt.Errorf("session %s is here, and its log cannot be read: %w", l.Session, k.err)
	case k.same < k.info.Head.Seq:
		return fmt.Errorf("session %s: %w: here it ends with event %d, %.12s, in the bundle with event %d, %.12s, and they are the same up to event %d",
			l.Session, ErrOtherHistory, k.info.Head.Seq, k.info.Head.Hash, l.Head.Seq, l.Head.Hash, k.same)
	case !last:
		return fmt.Errorf("session %s: %w: here it ends with event %d, and the bundle's session is a fork of it from event %d", l.Session, ErrParentBehind, k.info.Head.Seq, l.Head.Seq)
	}
	st, err := a.h.State(ctx, l.Session)
	if err != nil {
		return err
	}
	if st.Head != k.info.Head {
		return fmt.Errorf("session %s: it goes on here just now: %w", l.Session, store.ErrConflict)
	}
	a.Back = &Back{Head: st.Head, Dir: st.Config.Root, Lifecycle: st.Lifecycle, bytes: k.info.Bytes}
	return nil
}

// ErrParentBehind says that what a fork inherits is here, and does not go as far as the fork.
var ErrParentBehind = errors.New("what the bundle's session was forked from is here, and not as far")
