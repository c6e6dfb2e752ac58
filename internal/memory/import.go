package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/perdure/perdure/store"
)

// Import adds sessions with their logs; see [store.Importer].
func (s *Store) Import(ctx context.Context, sessions ...store.Imported) error {
	logs := make([][]store.Event, len(sessions))
	for i, n := range sessions {
		if n.Past == nil {
			n.Past = func(func(store.Event, error) bool) {}
		}
		for e, err := range n.Past {
			if err != nil {
				return fmt.Errorf("import session %s: %w", n.ID, err)
			}
			logs[i] = append(logs[i], e)
		}
		logs[i] = append(logs[i], n.Events...)
	}
	return s.call(ctx, "import", "*", func(h *Home) error {
		before := map[string]*row{}
		for i, n := range sessions {
			was := h.sessions[n.ID]
			r, err := h.imported(n, logs[i])
			if err != nil {
				for id, r := range before {
					if h.sessions[id] = r; r == nil {
						delete(h.sessions, id)
					}
				}
				return fmt.Errorf("session %s: %w", n.ID, err)
			}
			if r.no == 0 {
				h.created++
				r.no = h.created
			}
			if _, twice := before[n.ID]; !twice {
				before[n.ID] = was
			}
			h.sessions[n.ID] = r
		}
		return nil
	})
}

// imported is the row of a session whose log was written elsewhere.
func (h *Home) imported(n store.Imported, log []store.Event) (*row, error) {
	if err := store.CheckID(n.ID); err != nil {
		return nil, err
	}
	if n.Here != nil {
		return h.further(n, log)
	}
	if h.sessions[n.ID] != nil {
		return nil, store.ErrExists
	}
	r := &row{readers: map[[2]string]int64{}}
	if p := n.Parent; p != nil {
		if err := h.checkFork(*p); err != nil {
			return nil, err
		}
		position := *p
		r.info.Parent, r.base = &position, p.Hash
	}
	if err := follow(store.Head{Hash: r.base}, n.ID, log); err != nil {
		return nil, err
	}
	if n.Heads.Labels == nil {
		n.Heads.Labels = n.Labels
	}
	r.info.ID, r.info.Owner, r.info.Created, r.info.Updated, r.info.Epoch = n.ID, n.Owner, n.Created, n.Created, n.Epoch
	r.info.Head, r.info.Heads = store.Head{Hash: r.base}, cloneHeads(n.Heads)
	r.add(log)
	return r, nil
}

// further is the row of a session that goes on, in the place of the one that is there.
func (h *Home) further(n store.Imported, log []store.Event) (*row, error) {
	was := h.sessions[n.ID]
	if was == nil {
		return nil, store.Missing(n.ID)
	}
	info := h.view(was)
	switch holder := info.Holder; {
	case holder != nil && holder.Alive != store.Dead:
		return nil, &store.HeldError{Session: n.ID, Holder: *holder}
	case info.Head != *n.Here:
		return nil, fmt.Errorf("it ends with event %d, not %d: %w", info.Head.Seq, n.Here.Seq, store.ErrConflict)
	}
	if err := follow(info.Head, n.ID, log); err != nil {
		return nil, err
	}
	r := *was
	r.events = slices.Clip(r.events)
	if n.Heads.Labels == nil {
		n.Heads.Labels = n.Labels
	}
	r.info.Holder, r.info.Heads, r.info.Epoch = nil, cloneHeads(n.Heads), max(r.info.Epoch, n.Epoch)
	r.add(log)
	return &r, nil
}

// follow is nil if events follow a head, one after the other.
func follow(head store.Head, id string, log []store.Event) error {
	for _, e := range log {
		err := store.Verify(head.Hash, id, e)
		if e.Seq != head.Seq+1 {
			err = fmt.Errorf("event %d follows %d", e.Seq, head.Seq)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrConflict, err)
		}
		head = store.Head{Seq: e.Seq, Hash: e.Hash}
	}
	return nil
}
