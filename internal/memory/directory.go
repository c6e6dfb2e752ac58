package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// Create adds a session; see [store.Directory].
func (s *Store) Create(ctx context.Context, n store.NewSession) error {
	return s.call(ctx, "create", n.ID, func(h *Home) error {
		if err := store.CheckID(n.ID); err != nil {
			return err
		}
		if h.sessions[n.ID] != nil {
			return store.ErrExists
		}
		if len(n.Events) > 0 && n.Events[0].Seq != 1 {
			return fmt.Errorf("the first event has seq %d: want 1", n.Events[0].Seq)
		}
		if err := checkBatch(n.Events); err != nil {
			return err
		}
		r := &row{readers: map[[2]string]int64{}}
		if p := n.Parent; p != nil {
			if err := h.checkFork(*p); err != nil {
				return err
			}
			position := *p
			r.info.Parent, r.base = &position, p.Hash
		}
		if n.Heads.Labels == nil {
			n.Heads.Labels = n.Labels
		}
		r.info.ID, r.info.Owner, r.info.Created, r.info.Updated = n.ID, n.Owner, n.Created, n.Created
		r.info.Head, r.info.Heads = store.Head{Hash: r.base}, cloneHeads(n.Heads)
		if err := h.share(n.Shared); err != nil {
			return err
		}
		r.add(n.Events)
		h.created++
		r.no = h.created
		h.sessions[n.ID] = r
		return nil
	})
}

// checkFork finds the parent's hash at a seq equal to the one given, or refuses.
func (h *Home) checkFork(p store.Position) error {
	parent := h.sessions[p.Session]
	if parent == nil {
		return fmt.Errorf("parent %s: %w", p.Session, store.ErrNotFound)
	}
	hash := parent.base
	if p.Seq > 0 && p.Seq <= int64(len(parent.events)) {
		hash = parent.events[p.Seq-1].Hash
	}
	if p.Seq < 0 || p.Seq > int64(len(parent.events)) || hash != p.Hash {
		return fmt.Errorf("parent %s has another history at seq %d: %w", p.Session, p.Seq, store.ErrConflict)
	}
	return nil
}

// Get returns one session's row; see [store.Directory].
func (s *Store) Get(ctx context.Context, id string) (info store.Info, err error) {
	err = s.with(ctx, "get", id, func(h *Home, r *row) error {
		info = h.view(r)
		return nil
	})
	return info, err
}

// Delete removes a session; see [store.Directory].
func (s *Store) Delete(ctx context.Context, id string) error {
	return s.with(ctx, "delete", id, func(h *Home, r *row) error {
		if holder := h.view(r).Holder; holder != nil && holder.Alive != store.Dead {
			return &store.HeldError{Session: id, Holder: *holder}
		}
		var children []string
		for _, other := range h.sessions {
			if other.info.Parent != nil && other.info.Parent.Session == id {
				children = append(children, other.info.ID)
			}
		}
		if len(children) > 0 {
			slices.Sort(children)
			return &store.ChildrenError{Session: id, Children: children}
		}
		delete(h.sessions, id)
		return nil
	})
}

// List returns one page; see [store.Directory].
func (s *Store) List(ctx context.Context, q store.Query) (page store.Page, err error) {
	err = s.call(ctx, "list", "*", func(h *Home) error {
		if q.Limit < 0 || q.Limit > 1000 {
			return fmt.Errorf("limit %d: want at most 1000", q.Limit)
		}
		if q.Limit == 0 {
			q.Limit = 100
		}
		rows := make([]*row, 0, len(h.sessions))
		for _, r := range h.sessions {
			if matches(r, q) {
				rows = append(rows, r)
			}
		}
		slices.SortFunc(rows, func(a, b *row) int {
			return cmp.Or(cmp.Compare(b.info.Updated, a.info.Updated), cmp.Compare(b.no, a.no))
		})
		if q.After != "" {
			var updated, no int64
			if n, err := fmt.Sscanf(q.After, "%d.%d", &updated, &no); n != 2 || err != nil {
				return fmt.Errorf("not a cursor of this store")
			}
			rows = slices.DeleteFunc(rows, func(r *row) bool {
				return r.info.Updated > updated || r.info.Updated == updated && r.no >= no
			})
		}
		if len(rows) > q.Limit {
			rows = rows[:q.Limit]
			last := rows[q.Limit-1]
			page.Next = fmt.Sprintf("%d.%d", last.info.Updated, last.no)
		}
		for _, r := range rows {
			page.Sessions = append(page.Sessions, h.view(r))
		}
		return nil
	})
	return page, err
}

func matches(r *row, q store.Query) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	parent := ""
	if r.info.Parent != nil {
		parent = r.info.Parent.Session
	}
	for k, v := range q.Labels {
		if got, ok := r.info.Heads.Labels[k]; !ok || got != v {
			return false
		}
	}
	heads, held := r.info.Heads, q.OrHeld && r.info.Holder != nil
	return (held || is(q.Lifecycle, heads.Lifecycle)) && (held || is(q.Activity, heads.Activity)) && is(q.Cwd, heads.Cwd) &&
		is(q.Title, heads.Title) && is(q.Parent, parent) && strings.HasPrefix(r.info.ID, q.IDPrefix) &&
		strings.HasSuffix(r.info.ID, q.IDSuffix)
}
