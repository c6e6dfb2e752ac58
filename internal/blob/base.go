package blob

import (
	"errors"
	"fmt"
	"slices"

	"github.com/perdure/perdure/store"
)

// PutLike is [Batch.Put] of a content that is probably much like another one: the one before it of the same file or
// directory. If that is in the store and most bytes are shared, only what differs is kept.
func (b *Batch) PutLike(data []byte, like store.Digest) (store.Digest, error) {
	if len(data) > ChunkMin || len(data) < deltaLeast || like.IsZero() {
		return b.Put(data)
	}
	b.state.RLock()
	defer b.state.RUnlock()
	if b.done {
		return store.Digest{}, fmt.Errorf("put: %w", ErrClosed)
	}
	d := store.Sum(data)
	return d, b.putLike(d, data, like)
}

// delta gives what tells data from its base, nil if there is none or if it would be more than half of what is stored
// otherwise: so a base that is far away is soon replaced. A content of which there is another record, damaged or without
// its base, is stored as it is.
func (b *Batch) delta(d store.Digest, data []byte, like store.Digest) ([]byte, error) {
	if _, there := b.store.lookup(d); there || like.IsZero() {
		return nil, nil
	}
	base, ok := b.baseFor(like)
	if !ok {
		return nil, nil
	}
	content, err := b.store.plain(base)
	if err != nil {
		return nil, nil //nolint:nilerr // what cannot be read is no base
	}
	return deltaOf(base, content, data)
}

// baseFor gives a base that is as good as a content: itself if it stands for itself, otherwise its own base, so that no
// content needs more than one other. The batch relies on it.
func (b *Batch) baseFor(like store.Digest) (store.Digest, bool) {
	if p, e, ok := b.store.findPlain(like); ok {
		b.durable(p, e)
		return like, true
	}
	p, e, ok := b.store.find(like)
	if !ok || e.kind != kindDelta || !b.relyOnBase(p, e) {
		return store.Digest{}, false
	}
	base, err := b.store.baseOf(p, e)
	return base, err == nil
}

// relyOnBase has the base of a delta stay, and reports whether it is there.
func (b *Batch) relyOnBase(p *pack, e entry) bool {
	base, err := b.store.baseOf(p, e)
	if err != nil {
		return false
	}
	p, e, ok := b.store.findPlain(base)
	if ok {
		b.durable(p, e)
	}
	return ok
}

// findPlain is find of a record that stands for itself: no list, no delta.
func (s *Store) findPlain(d store.Digest) (*pack, entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if e, ok := p.find(s.disk, d); ok && e.kind.plain() {
			return p, e, true
		}
	}
	return nil, entry{}, false
}

// baseOf reads which base a delta has.
func (s *Store) baseOf(p *pack, e entry) (store.Digest, error) {
	f, err := s.disk.open(p.file(), false)
	if err != nil {
		return store.Digest{}, err
	}
	defer func() { _ = f.Close() }()
	_, payload, err := readRecord(f, p, e)
	if err != nil {
		return store.Digest{}, err
	}
	return baseIn(payload)
}

// expand makes the content of a delta, so that it is from then on as one that was stored as it is.
func (s *Store) expand(rec record, payload []byte) (record, []byte, error) {
	d, err := baseIn(payload)
	if err != nil {
		return record{}, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	base, err := s.plain(d)
	switch {
	case errors.Is(err, ErrMissing):
		return record{}, nil, fmt.Errorf("%w: its base %s", errIncomplete, d)
	case err != nil:
		return record{}, nil, fmt.Errorf("its base %s: %w", d, err)
	}
	out, err := apply(payload, base, rec.raw)
	if err != nil {
		return record{}, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	rec.kind, rec.stored = kindRaw, uint32(len(out)) //nolint:gosec // at most MaxBlob
	return rec, out, nil
}

// plain reads a content that stands for itself.
func (s *Store) plain(d store.Digest) ([]byte, error) {
	rec, payload, err := s.recordBy(d, s.findPlain)
	if err != nil {
		return nil, err
	}
	return s.content(rec, payload)
}

// place is where a record lies.
type place struct {
	pack  *pack
	entry entry
}

// places gives all records of a content, damaged ones too.
func (s *Store) places(d store.Digest) (all []place) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if e, ok := p.lookup(s.disk, d); ok {
			all = append(all, place{p, e})
		}
	}
	return all
}

// bases gives the bases of all records of a content, damaged ones left out.
func (s *Store) bases(d store.Digest) (out []store.Digest, err error) {
	for _, at := range s.places(d) {
		if at.entry.kind != kindDelta {
			continue
		}
		base, err := s.baseOf(at.pack, at.entry)
		if err == nil {
			out = append(out, base)
		} else if err = unreadable(err); err != nil {
			return nil, fmt.Errorf("the base of %s: %w", d, err)
		}
	}
	return out, nil
}

// baseless reports whether a delta has lost its base, and so stands for nothing. A base that is damaged is there.
func (s *Store) baseless(p *pack, e entry) (bool, error) {
	base, err := s.baseOf(p, e)
	if err != nil {
		return false, unreadable(err)
	}
	return !slices.ContainsFunc(s.places(base), func(at place) bool { return at.entry.kind.plain() }), nil
}

// remains reports whether any record of a content stands for it, a damaged one too: not a delta that has lost its base,
// which is what a sweep left of a content that nobody needed.
func (s *Store) remains(d store.Digest) bool {
	return slices.ContainsFunc(s.places(d), func(at place) bool {
		if at.entry.kind != kindDelta {
			return true
		}
		lost, err := s.baseless(at.pack, at.entry)
		return err != nil || !lost
	})
}

// elsewhere reports whether another pack has a record of a content, sound or not.
func (s *Store) elsewhere(than *pack, d store.Digest) bool {
	return slices.ContainsFunc(s.places(d), func(at place) bool { return at.pack != than })
}

// whole makes the record that a delta's content has if it stands for itself.
func (s *Store) whole(rec record, payload []byte) (record, []byte, error) {
	rec, content, err := s.expand(rec, payload)
	if err == nil {
		content, err = s.content(rec, content)
	}
	if err != nil {
		return rec, nil, err
	}
	k, out, err := squeeze(content, nil)
	rec.kind, rec.stored = k, uint32(len(out)) //nolint:gosec // at most MaxBlob
	return rec, out, err
}
