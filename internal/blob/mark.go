package blob

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/store"
)

// marks has the digests that something leads to, and the pack that keeps each if there are several; nil: not known yet.
// It takes about 100 bytes for each content that lives.
type marks map[store.Digest]*pack

// marker marks what roots lead to.
type marker struct {
	store *Store
	roots func(context.Context) (func(yield func(store.Digest) bool), error)
	links func(store.Digest) ([]store.Digest, error)
	marks marks
	bases map[store.Digest]bool // of marks: what only deltas need, so that what it leads to may go
	fresh bool                  // the packs were looked at since mark was called
}

// mark asks for the roots and follows what is new. A content that is missing is not marked, but looked for again.
func (m *marker) mark(ctx context.Context) error {
	m.fresh = false
	roots, err := m.roots(ctx)
	if err != nil {
		return fmt.Errorf("roots: %w", err)
	}
	for d := range roots {
		if err = m.follow(ctx, d); err != nil {
			break
		}
	}
	return err
}

// follow marks a content and all that it leads to: what the caller knows of it, the parts of a list, the bases of deltas.
func (m *marker) follow(ctx context.Context, root store.Digest) error {
	for todo := []store.Digest{root}; len(todo) > 0; {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, done := m.marks[d]; done && !m.bases[d] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, ok, err := m.find(d)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if !m.bases[d] {
			m.marks[d] = nil
		}
		delete(m.bases, d)
		next, err := m.links(d)
		if err != nil {
			return fmt.Errorf("what %s leads to: %w", d, err)
		}
		todo = append(todo, next...)
		bases, err := m.store.bases(d)
		if err != nil {
			return err
		}
		for _, base := range bases {
			if _, done := m.marks[base]; !done {
				m.marks[base], m.bases[base] = nil, true
			}
		}
		if e.kind == kindList {
			parts, err := m.store.parts(d)
			if err != nil {
				return err
			}
			todo = append(todo, parts...)
		}
	}
	return nil
}

// find looks a content up, a damaged one too: its pack is not to go.
func (m *marker) find(d store.Digest) (entry, bool, error) {
	e, ok := m.lookup(d)
	if ok || m.fresh {
		return e, ok, nil
	}
	m.fresh = true
	if err := m.store.refresh(); err != nil {
		return entry{}, false, err
	}
	e, ok = m.lookup(d)
	return e, ok, nil
}

// lookup is that of the store, but for a delta that has lost its base.
func (m *marker) lookup(d store.Digest) (entry, bool) {
	e, ok := m.store.lookup(d)
	return e, ok && (e.kind != kindDelta || m.store.remains(d))
}

// lookup looks a digest up, and gives one that is whole if there is one.
func (s *Store) lookup(d store.Digest) (entry, bool) {
	if _, e, ok := s.find(d); ok {
		return e, true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if e, ok := p.lookup(s.disk, d); ok {
			return e, true
		}
	}
	return entry{}, false
}
