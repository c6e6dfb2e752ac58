package blob

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perdure/perdure/store"
)

// Damage is a record that is not what was written.
type Damage struct {
	Pack   string
	Offset int64
	Digest store.Digest
	Err    error
}

// Report is what Verify found.
type Report struct {
	Packs, Records int
	Bytes          int64    // of the packs that were read
	Torn           int64    // bytes behind the last whole batches: the next batch or Sweep removes them
	Damaged        []Damage // at most 1,000
	// Incomplete has large contents of which chunks are missing, and deltas without their base, at most 1,000. That is
	// damage if something leads to them; otherwise it is what Sweep left.
	Incomplete []store.Digest
	Indexes    int // index files that were not what was written; they are not used, and made anew
}

// maxDamage bounds what a report names.
const maxDamage = 1000

// Verify reads everything and compares it with its digests, and looks for what lists name. Progress, if any, is told how
// many bytes of how many are read. Damage is no error but in the report.
func (s *Store) Verify(ctx context.Context, progress func(done, total int64)) (Report, error) {
	var r Report
	if err := s.refresh(); err != nil {
		return r, fmt.Errorf("verify: %w", err)
	}
	total, done := s.bytes(), int64(0)
	for _, p := range s.known() {
		sound := s.indexSound(p)
		if p.unindexed || !sound {
			r.Indexes++
		}
		if sound {
			continue
		}
		if err := s.scanWhole(p); err != nil && !isGone(err) {
			return r, fmt.Errorf("verify pack %s: %w", p.id, err)
		}
	}
	for _, p := range s.known() {
		err := s.verifyPack(ctx, p, &r, func(n int64) {
			if done += n; progress != nil {
				progress(done, total)
			}
		})
		if err != nil && !isGone(err) {
			return r, fmt.Errorf("verify pack %s: %w", p.id, err)
		}
	}
	return r, nil
}

// known is the packs that are known now, by name.
func (s *Store) known() []*pack {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*pack, 0, len(s.packs))
	for _, p := range s.packs {
		if !p.foreign {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *pack) int { return slices.Compare(a.id[:], b.id[:]) })
	return all
}

func (s *Store) verifyPack(ctx context.Context, p *pack, r *Report, read func(int64)) error {
	entries, _, err := s.entriesOf(p)
	if err != nil {
		return err
	}
	s.mu.RLock()
	torn := max(0, p.size-p.valid)
	if p.writer {
		torn = 0
	}
	s.mu.RUnlock()
	f, err := s.disk.open(p.file(), false)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	slices.SortFunc(entries, func(a, b entry) int { return int(int64(a.off) - int64(b.off)) })
	r.Packs, r.Torn = r.Packs+1, r.Torn+torn
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := e.end() - int64(e.off)
		err := s.verifyRecord(f, p, e)
		if errors.Is(err, errIncomplete) {
			if len(r.Incomplete) < maxDamage {
				r.Incomplete = append(r.Incomplete, e.digest)
			}
			err = nil
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		if err != nil && len(r.Damaged) < maxDamage {
			r.Damaged = append(r.Damaged, Damage{p.id.String(), int64(e.off), e.digest, err})
		}
		r.Records, r.Bytes = r.Records+1, r.Bytes+n
		read(n)
	}
	return nil
}

// verifyRecord reads a record, and for a list whether what it names is there.
func (s *Store) verifyRecord(f file, p *pack, e entry) error {
	rec, payload, err := readRecord(f, p, e)
	if err == nil && rec.kind == kindDelta {
		rec, payload, err = s.expand(rec, payload)
	}
	if err != nil {
		return err
	}
	if rec.kind != kindList {
		_, err = s.content(rec, payload)
		return err
	}
	_, err = s.partsOf(rec, payload)
	if err == nil && !s.has(rec.digest) {
		err = errIncomplete
	}
	return err
}

// errIncomplete says that a record is whole and what it names is not there. Sweep leaves such records if nothing leads
// to them.
var errIncomplete = errors.New("parts of the content are missing")

// needs gives the digests that the content of a record needs.
func (s *Store) needs(p *pack, e entry) ([]store.Digest, error) {
	if e.kind != kindDelta {
		return s.parts(e.digest)
	}
	base, err := s.baseOf(p, e)
	return []store.Digest{base}, err
}

// parts gives the digests that a content of parts needs.
func (s *Store) parts(d store.Digest) ([]store.Digest, error) {
	rec, payload, err := s.record(d)
	var parts []store.Digest
	if err == nil && rec.kind == kindList {
		parts, err = s.partsOf(rec, payload)
	}
	if err != nil {
		return nil, fmt.Errorf("the parts of %s: %w", d, err)
	}
	return parts, nil
}

// partsOf gives the digests that a list needs: of its chunks and pages.
func (s *Store) partsOf(rec record, payload []byte) ([]store.Digest, error) {
	l, err := parseList(payload, rec.raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var all []store.Digest
	for _, p := range l.parts {
		all = append(all, p.digest)
		if !l.pages {
			continue
		}
		var chunks []part
		page, err := s.Get(p.digest)
		if err == nil {
			chunks, err = parseParts(page, p.size)
		}
		if errors.Is(err, ErrMissing) {
			return nil, fmt.Errorf("%w: its page %s", errIncomplete, p.digest)
		}
		if errors.Is(err, errList) || errors.Is(err, ErrTooLarge) {
			return nil, fmt.Errorf("%w: its page %s: %w", ErrDamaged, p.digest, err)
		}
		if err != nil {
			return nil, err
		}
		for _, c := range chunks {
			all = append(all, c.digest)
		}
	}
	return all, nil
}
