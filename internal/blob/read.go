package blob

import (
	"errors"
	"fmt"
	"io"

	"github.com/perdure/perdure/store"
)

// Get returns a content, whose bytes are those of its digest. It is [ErrMissing], [ErrDamaged], or [ErrTooLarge] if it
// is over [MaxBlob]. The caller owns the bytes.
func (s *Store) Get(d store.Digest) ([]byte, error) {
	rec, payload, err := s.record(d)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", d, err)
	}
	if rec.kind != kindList {
		b, err := s.content(rec, payload)
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", d, err)
		}
		return b, nil
	}
	if rec.raw > MaxBlob {
		return nil, fmt.Errorf("get %s, of %d bytes: %w", d, rec.raw, ErrTooLarge)
	}
	r, err := s.stream(rec, payload)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", d, err)
	}
	b := make([]byte, rec.raw)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// record reads the record of a digest, from any pack that has a sound one.
func (s *Store) record(d store.Digest) (record, []byte, error) { return s.recordBy(d, s.find) }

// recordBy is record among those that a lookup finds. A delta is given as the content that it stands for.
func (s *Store) recordBy(d store.Digest, find func(store.Digest) (*pack, entry, bool)) (record, []byte, error) {
	var damage error
	repaired := false
	for looks := 0; looks < 4; {
		p, e, ok := find(d)
		if !ok {
			looks++
			if looks == 1 {
				if err := s.refresh(); err != nil {
					return record{}, nil, err
				}
				continue
			}
			if !repaired {
				repaired = true
				if s.repairIndexes() {
					continue
				}
			}
			return record{}, nil, s.absence(d, damage)
		}
		rec, payload, err := s.readAt(p, e)
		switch {
		case err == nil:
			return rec, payload, nil
		case isGone(err): // swept meanwhile, and kept in another pack
			looks++
			if err := s.refresh(); err != nil {
				return record{}, nil, err
			}
		case errors.Is(err, ErrDamaged):
			damage = err
			s.distrust(p, d)
		case errors.Is(err, errIncomplete): // its base was swept
			s.distrust(p, d)
		default:
			return record{}, nil, err
		}
	}
	return record{}, nil, s.absence(d, damage)
}

// absence says why a content cannot be had: its only records are damaged, now or when they were read before, or there
// is none.
func (s *Store) absence(d store.Digest, damage error) error {
	if damage != nil {
		return damage
	}
	if s.remains(d) {
		return ErrDamaged
	}
	return ErrMissing
}

// readAt reads one record and compares it with what the index says of it. Of a delta it makes the content.
func (s *Store) readAt(p *pack, e entry) (record, []byte, error) {
	f, err := s.disk.open(p.file(), false)
	if err != nil {
		return record{}, nil, err
	}
	defer func() { _ = f.Close() }()
	rec, payload, err := readRecord(f, p, e)
	if err == nil && rec.kind == kindDelta {
		return s.expand(rec, payload)
	}
	return rec, payload, err
}

func readRecord(f io.ReaderAt, p *pack, e entry) (record, []byte, error) {
	b := make([]byte, recordHeaderLen+int(e.stored))
	if _, err := f.ReadAt(b, int64(e.off)); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrDamaged
		}
		return record{}, nil, fmt.Errorf("pack %s at %d: %w", p.id, e.off, err)
	}
	rec, err := parseRecord(b)
	payload := b[recordHeaderLen:]
	if err != nil || rec.digest != e.digest || rec.stored != e.stored || rec.kind != e.kind || !rec.sound(b, payload) {
		return record{}, nil, fmt.Errorf("pack %s at %d: %w", p.id, e.off, ErrDamaged)
	}
	return rec, payload, nil
}

// content decodes a record that is no list, and compares it with its digest.
func (s *Store) content(rec record, payload []byte) ([]byte, error) {
	b := payload
	if rec.kind == kindZstd {
		var err error
		if b, err = unsqueeze(payload, rec.raw); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if rec.kind == kindList || store.Sum(b) != rec.digest {
		return nil, ErrDamaged
	}
	return b, nil
}

// distrust has a record not be found again in this pack.
func (s *Store) distrust(p *pack, d store.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.bad == nil {
		p.bad = map[store.Digest]bool{}
	}
	p.bad[d] = true
}

// repairIndexes reads every index file whole, once in a process's life, and forgets the ones that are not what was
// written: their packs are scanned. It reports whether there were any.
func (s *Store) repairIndexes() bool {
	s.mu.RLock()
	var with []*pack
	for _, p := range s.packs {
		if p.idx != nil && !p.idx.whole {
			with = append(with, p)
		}
	}
	s.mu.RUnlock()
	found := false
	for _, p := range with {
		if s.indexSound(p) {
			continue
		}
		found = s.scanWhole(p) == nil || found
	}
	return found
}

func (s *Store) indexSound(p *pack) bool {
	s.mu.RLock()
	x := p.idx
	s.mu.RUnlock()
	if x == nil {
		return true
	}
	f, err := s.disk.open(p.idxFile(), false)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	_, err = x.all(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	x.whole = err == nil
	return err == nil
}

// scanWhole learns a pack from its own bytes alone.
func (s *Store) scanWhole(p *pack) error {
	f, err := s.disk.open(p.file(), false)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	fresh := &pack{id: p.id, valid: packHeaderLen}
	t, err := fresh.tail(f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.writer {
		return errors.New("the pack is being written")
	}
	if p.idx != nil && p.idx.f != nil {
		s.idxOpen--
	}
	p.drop()
	p.idx, p.bad, p.recent, p.synced = nil, nil, map[store.Digest]entry{}, packHeaderLen
	p.learn(t)
	return nil
}
