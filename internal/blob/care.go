package blob

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

const indexBehind = 1 << 20 // bytes of a pack without an index after which Close writes one

// tidy removes what killed writers left: torn batches, empty packs, indexes without their pack. What cannot be removed is
// left to the next one.
func (s *Store) tidy() {
	s.mu.RLock()
	var left []*pack
	for _, p := range s.packs {
		if !p.writer && !p.foreign && (p.size != p.valid || p.valid == packHeaderLen) {
			left = append(left, p)
		}
	}
	litter := s.litter
	s.mu.RUnlock()
	for _, p := range left {
		s.tidyPack(p)
	}
	for _, name := range litter {
		_ = s.disk.remove(packsDir + "/" + name)
	}
}

func (s *Store) tidyPack(p *pack) {
	w, err := s.own(p)
	if err != nil || w == nil {
		return // somebody writes it
	}
	if w.start == packHeaderLen && s.disk.remove(p.file()) == nil {
		s.mu.Lock()
		s.forget(p)
		s.mu.Unlock()
	}
	s.release(w)
}

// syncPack has everything durable that is known of a pack.
func (s *Store) syncPack(p *pack) error {
	s.mu.RLock()
	valid := p.valid
	s.mu.RUnlock()
	f, err := s.disk.open(p.file(), true)
	if err != nil {
		return fmt.Errorf("sync pack %s: %w", p.id, err)
	}
	err = f.sync()
	_ = f.Close()
	if err != nil {
		return fmt.Errorf("sync pack %s: %w", p.id, err)
	}
	s.mu.Lock()
	p.synced = max(p.synced, valid)
	s.mu.Unlock()
	return nil
}

// secure has records of another batch durable. They are looked at after the sync: a batch whose own sync failed is taken
// back, and then they are gone.
func (s *Store) secure(p *pack, entries []entry) error {
	if err := s.syncPack(p); err != nil {
		return err
	}
	f, err := s.disk.open(p.file(), false)
	if err != nil {
		return fmt.Errorf("what another batch wrote to pack %s: %w", p.id, err)
	}
	defer func() { _ = f.Close() }()
	for _, e := range entries {
		if _, _, err := readRecord(f, p, e); err != nil {
			return fmt.Errorf("what another batch wrote: %w", errors.Join(err, s.scanWhole(p))) // so that it is not met again
		}
	}
	return nil
}

// bytes is how many bytes the packs have, as far as is known.
func (s *Store) bytes() (n int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		n += p.size
	}
	return n
}

// withinQuota looks at the packs as they are now, what other batches wrote included, and adds what finish will write.
func (s *Store) withinQuota(quota int64, out *appender) error {
	names, err := s.disk.list()
	if err != nil {
		return err
	}
	total := int64(0)
	for _, w := range out.parts {
		total += frameSize(len(w.entries))
	}
	for _, name := range names {
		if _, ok := packName(name, packExt); ok {
			n, err := s.disk.size(packsDir + "/" + name)
			if notGone(err) != nil {
				return err
			}
			total += n
		}
	}
	if total > quota {
		return fmt.Errorf("%d bytes of %d: %w", total, quota, ErrQuota)
	}
	return nil
}

// indexLarge writes the indexes that spare the next process a scan, if this one wrote anything.
func (s *Store) indexLarge() {
	s.mu.RLock()
	var large []*pack
	for _, p := range s.packs {
		if s.wrote && !p.writer && !p.foreign && p.valid-p.covered() > indexBehind {
			large = append(large, p)
		}
	}
	s.mu.RUnlock()
	for _, p := range large {
		if s.syncPack(p) == nil { // an index speaks of what is durable alone
			s.writeIdx(p)
		}
	}
}

// writeIdx writes the index of what is durable in a pack. It is a cache: without it the pack is scanned.
func (s *Store) writeIdx(p *pack) {
	s.mu.RLock()
	covers := p.valid
	entries, err := p.entries(s.disk)
	durable := p.synced == p.valid
	s.mu.RUnlock()
	if err != nil || !durable {
		return
	}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // it never fails
	temp := p.idxFile() + "." + hex.EncodeToString(unique[:]) + tempExt
	f, err := s.disk.create(temp)
	if err != nil {
		return
	}
	_, err = f.WriteAt(encodeIdx(p.id, covers, entries), 0)
	if err == nil {
		err = f.sync()
	}
	_ = f.Close()
	if err == nil {
		err = s.disk.rename(temp, p.idxFile())
	}
	if err != nil {
		_ = s.disk.remove(temp)
		return
	}
	s.useIdx(p, covers)
}

// useIdx looks entries up in the index file from now on.
func (s *Store) useIdx(p *pack, covers int64) {
	f, err := s.disk.open(p.idxFile(), false)
	if err != nil {
		return
	}
	x, err := readIdx(f, p.id, covers)
	if err != nil || x.covers != covers {
		_ = f.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.idx != nil && p.idx.f != nil {
		s.idxOpen--
	}
	p.drop()
	if x.f = f; s.idxOpen >= openIdx || s.closed {
		_ = f.Close()
		x.f = nil
	} else {
		s.idxOpen++
	}
	p.idx = x
	for d, e := range p.recent {
		if e.end() <= covers {
			delete(p.recent, d)
		}
	}
}
