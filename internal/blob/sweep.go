package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perdure/perdure/store"
)

// Swept is what a Sweep did.
type Swept struct {
	Packs     int   // looked at
	Removed   int   // held nothing that lives
	Rewritten int   // less than half lived: that was copied into another pack
	Freed     int64 // bytes
	Live      int   // contents that something leads to, chunks counted each
	Damaged   int   // packs that were left alone since a record that lives could not be read
}

// Sweep takes away the contents that nothing leads to. Roots gives the digests that are named; it is asked again whenever
// a pack is about to go. Links gives what a content names, nothing for one that is no tree; it is asked once for each
// content, and an error of it ends the Sweep, since what it does not say would be lost. Parts of large contents are known
// here. Progress, if any, is told how many bytes of how many packs are done.
//
// Neither function may begin a batch.
//
// It takes one pack after the other, the emptiest first: one with nothing that lives is removed, one of which less than
// half lives is copied first, so that it never needs more than half a pack of room. Batches wait meanwhile, about a second
// at most, and a step waits until no batch is open. A Sweep that is killed or canceled has done some of the packs; the
// next one does the others. Only one runs at a time, others wait.
func (s *Store) Sweep(ctx context.Context, roots func(context.Context) (func(yield func(store.Digest) bool), error),
	links func(store.Digest) ([]store.Digest, error), progress func(done, total int64),
) (Swept, error) {
	var done Swept
	if err := s.sweep(ctx, &marker{store: s, roots: roots, links: links, marks: marks{}, bases: map[store.Digest]bool{}}, &done, progress); err != nil {
		return done, fmt.Errorf("sweep blobs: %w", err)
	}
	return done, nil
}

func (s *Store) sweep(ctx context.Context, m *marker, done *Swept, progress func(done, total int64)) error {
	if err := s.refresh(); err != nil || len(s.known()) == 0 && len(s.litter) == 0 {
		return err
	}
	one, err := s.wait(ctx, sweepName, true)
	if err != nil {
		return outOfSpace(err)
	}
	defer func() { _ = one.Close() }()
	if err := s.refresh(); err != nil {
		return err
	}
	s.tidy()
	if err := m.mark(ctx); err != nil {
		return err
	}
	plan, total, err := s.plan(m.marks)
	if err != nil {
		return err
	}
	read := int64(0)
	var full error
	for _, c := range plan {
		if err := s.sweepPack(ctx, m, c, done); errors.Is(err, ErrNoSpace) {
			full = err // what holds nothing that lives can go all the same
		} else if err != nil {
			return fmt.Errorf("pack %s: %w", c.pack.id, err)
		}
		if read += c.size; progress != nil {
			progress(read, total)
		}
	}
	done.Live = len(m.marks)
	return full
}

// candidate is a pack with what lives in it.
type candidate struct {
	pack       *pack
	size, live int64
}

func (c candidate) worth() bool { return c.live*2 < c.size }

// plan looks at all packs, chooses which one keeps a content of several, and orders them by what lives in them.
func (s *Store) plan(m marks) (plan []candidate, total int64, err error) {
	for _, p := range s.known() {
		entries, size, err := s.entriesOf(p)
		if isGone(err) {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("pack %s: %w", p.id, err)
		}
		c := candidate{pack: p, size: size}
		for _, e := range entries {
			keeper, marked := m[e.digest]
			if marked && keeper == nil {
				m[e.digest] = p
			}
			if marked && keeper == nil {
				c.live += e.end() - int64(e.off)
			}
		}
		plan, total = append(plan, c), total+c.size
	}
	slices.SortStableFunc(plan, func(a, b candidate) int { return cmp.Compare(a.live, b.live) })
	return plan, total, nil
}

// sweepPack takes away or copies one pack, with no batch open.
func (s *Store) sweepPack(ctx context.Context, m *marker, c candidate, done *Swept) error {
	done.Packs++
	if !c.worth() { // what lives only becomes more
		return ctx.Err()
	}
	l, err := s.alone(ctx)
	if err != nil {
		return outOfSpace(err)
	}
	defer func() { _ = l.Close() }()
	if err := s.refresh(); err != nil {
		return err
	}
	if err := m.mark(ctx); err != nil {
		return err
	}
	w, err := s.own(c.pack)
	if err != nil || w == nil {
		return err
	}
	defer s.release(w)
	live, bytes, err := s.living(w, m.marks)
	if err != nil || bytes*2 >= w.start && w.start > packHeaderLen {
		return err
	}
	copied, err := s.copyLive(w, live, m.marks)
	if errors.Is(err, ErrDamaged) {
		done.Damaged++
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.removePack(c.pack); err != nil {
		return err
	}
	if done.Freed += w.start - copied; len(live) > 0 {
		done.Rewritten++
	} else {
		done.Removed++
	}
	return nil
}

// living gives the records of a pack that have to stay, in their order.
func (s *Store) living(w *written, m marks) (live []entry, bytes int64, err error) {
	entries, _, err := s.entriesOf(w.pack)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		keeper, marked := m[e.digest]
		if !marked {
			continue
		}
		if e.kind == kindDelta {
			if lost, err := s.baseless(w.pack, e); err != nil {
				return nil, 0, err
			} else if lost {
				continue
			}
		}
		if keeper != nil && keeper != w.pack {
			if kept, err := s.keeps(keeper, e, m); err != nil {
				return nil, 0, err
			} else if kept {
				continue
			}
		}
		live, bytes = append(live, e), bytes+e.end()-int64(e.off)
	}
	slices.SortFunc(live, func(a, b entry) int { return cmp.Compare(a.off, b.off) })
	return live, bytes, nil
}

// keeps reports whether another pack has what a record stands for, whole and durable. A delta does not replace what deltas
// may have as their base, and is good for nothing if its own base goes: it may have come after its content was marked.
func (s *Store) keeps(p *pack, of entry, m marks) (bool, error) {
	s.mu.RLock()
	e, ok := p.find(s.disk, of.digest)
	ok = ok && s.packs[p.id] == p
	durable := e.end() <= p.synced
	s.mu.RUnlock()
	if !ok || e.kind == kindDelta && (of.kind != kindDelta || !durable) {
		return false, nil
	}
	if e.kind == kindDelta {
		base, err := s.baseOf(p, e)
		if _, stays := m[base]; err != nil || !stays {
			return false, unreadable(err)
		}
	}
	rec, payload, err := s.readAt(p, e)
	if err == nil && rec.kind != kindList {
		_, err = s.content(rec, payload)
	}
	if err != nil {
		return false, unreadable(err)
	}
	if !durable {
		err = s.syncPack(p)
	}
	return err == nil, err
}

// unreadable takes an error of a record that is gone, damaged or without its base for none.
func unreadable(err error) error {
	if errors.Is(err, ErrDamaged) || errors.Is(err, errDelta) || errors.Is(err, errIncomplete) {
		return nil
	}
	return notGone(err)
}

// copyLive copies records into another pack, durably, and says how many bytes that took. There may be a record of the same
// content in that pack, and the later one counts: so a delta does not come behind one that others may have as their base.
func (s *Store) copyLive(w *written, live []entry, m marks) (int64, error) {
	out := appender{store: s} // the pack itself has a writer: this
	var err error
	for _, e := range live {
		var rec record
		var payload []byte
		if rec, payload, err = readRecord(w.f, w.pack, e); err == nil && rec.kind == kindDelta && s.elsewhere(w.pack, e.digest) {
			rec, payload, err = s.whole(rec, payload)
		}
		if err == nil {
			err = out.put(rec, payload)
		}
		if err != nil {
			break
		}
	}
	n := int64(0)
	if err == nil && len(live) > 0 {
		n = out.size()
		err = out.finish()
	}
	if err != nil {
		return 0, outOfSpace(errors.Join(err, out.undo()))
	}
	for _, w := range out.parts {
		for _, e := range w.entries {
			m[e.digest] = w.pack
		}
	}
	out.release()
	return n, nil
}

// removePack removes a pack, then its index.
func (s *Store) removePack(p *pack) error {
	if err := s.disk.remove(p.file()); notGone(err) != nil {
		return err
	}
	if err := s.disk.remove(p.idxFile()); notGone(err) != nil {
		return err
	}
	s.mu.Lock()
	s.forget(p)
	s.mu.Unlock()
	return s.disk.syncDir()
}
