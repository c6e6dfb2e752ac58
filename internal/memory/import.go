package memory

import (
	"context"
	"fmt"

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
		added := 0
		for i, n := range sessions {
			r, err := h.imported(n, logs[i])
			if err != nil {
				for _, n := range sessions[:added] {
					delete(h.sessions, n.ID)
				}
				return fmt.Errorf("session %s: %w", n.ID, err)
			}
			h.created++
			r.no = h.created
			h.sessions[n.ID] = r
			added++
		}
		return nil
	})
}

// imported is the row of a session whose log was written elsewhere.
func (h *Home) imported(n store.Imported, log []store.Event) (*row, error) {
	if err := store.CheckID(n.ID); err != nil {
		return nil, err
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
	head := store.Head{Hash: r.base}
	for _, e := range log {
		err := store.Verify(head.Hash, n.ID, e)
		if e.Seq != head.Seq+1 {
			err = fmt.Errorf("event %d follows %d", e.Seq, head.Seq)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrConflict, err)
		}
		head = store.Head{Seq: e.Seq, Hash: e.Hash}
	}
	if n.Heads.Labels == nil {
		n.Heads.Labels = n.Labels
	}
	r.info.ID, r.info.Owner, r.info.Created, r.info.Updated, r.info.Epoch = n.ID, n.Owner, n.Created, n.Created, n.Epoch
	r.info.Head, r.info.Heads = store.Head{Hash: r.base}, cloneHeads(n.Heads)
	r.add(log)
	return r, nil
}
