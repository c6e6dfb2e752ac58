package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"
)

// Send adds an item; see [store.Inbox].
func (s *Store) Send(ctx context.Context, id string, in store.Item) (receipt store.Receipt, err error) {
	err = s.with(ctx, "send to", id, func(_ *Home, r *row) error {
		if in.Key == "" {
			return errors.New("an item needs a key")
		}
		last := r.info.Mark
		for _, it := range r.items {
			if it.Key == in.Key {
				if it.Digest != in.Digest {
					return fmt.Errorf("key %q: %w", in.Key, store.ErrKeyReused)
				}
				receipt = store.Receipt{Session: id, N: it.N, Key: it.Key, Known: true}
				return nil
			}
			last = max(last, it.N)
		}
		in.N, in.Body = last+1, bytes.Clone(in.Body)
		r.items = append(r.items, item{Item: in})
		receipt = store.Receipt{Session: id, N: in.N, Key: in.Key}
		return nil
	})
	return receipt, err
}

// Pending returns items after a position; see [store.Inbox].
func (s *Store) Pending(ctx context.Context, id string, after int64, limit int) (items []store.Item, err error) {
	if limit <= 0 || limit > 1000 {
		limit = 1000
	}
	err = s.with(ctx, "inbox of", id, func(_ *Home, r *row) error {
		for _, it := range r.items {
			if it.N > after && len(items) < limit {
				it.Body = bytes.Clone(it.Body)
				items = append(items, it.Item)
			}
		}
		return nil
	})
	return items, err
}

// Prune removes items that were drained before a time; see [store.Inbox].
func (s *Store) Prune(ctx context.Context, before int64) (total int, err error) {
	err = s.call(ctx, "prune", "*", func(h *Home) error {
		for _, r := range h.sessions {
			kept := r.items[:0:0]
			for _, it := range r.items {
				if it.done && it.drained < before {
					total++
					continue
				}
				kept = append(kept, it)
			}
			r.items = kept
		}
		return nil
	})
	return total, err
}
