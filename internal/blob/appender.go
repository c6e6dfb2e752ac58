package blob

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

const (
	writeLen  = 256 << 10 // bytes that are written at a time
	mostTries = 16        // packs of others that are looked at before a new one is made
)

// appender writes records behind the batches of packs that it owns. Nothing of it is seen before finish.
type appender struct {
	store *Store
	parts []*written
}

// written is what an appender has put into one pack.
type written struct {
	pack    *pack
	f       file
	created bool
	start   int64
	flushed int64  // up to here the file has it
	buf     []byte // what follows
	entries []entry
	done    bool // the frame is durable
}

func (w *written) end() int64 { return w.flushed + int64(len(w.buf)) }

// put appends a record.
func (a *appender) put(rec record, payload []byte) error {
	w, err := a.part()
	if err != nil {
		return err
	}
	head := rec.head(payload)
	w.entries = append(w.entries, entry{rec.digest, uint64(w.end()), rec.stored, rec.kind, rec.crc})
	w.buf = append(append(w.buf, head...), payload...)
	if len(w.buf) >= writeLen {
		return w.flush()
	}
	return nil
}

// part gives the pack to append to: the last one, or the next one if that is full.
func (a *appender) part() (*written, error) {
	if n := len(a.parts); n > 0 {
		if w := a.parts[n-1]; w.end() < a.store.cfg.PackSize && len(w.entries) < rollAt {
			return w, nil
		}
		if err := a.parts[n-1].flush(); err != nil {
			return nil, err
		}
		a.parts[n-1].buf = nil
	}
	w, err := a.take()
	if err == nil && w == nil {
		w, err = a.create()
	}
	if err != nil {
		return nil, err
	}
	w.buf = make([]byte, 0, writeLen+4<<10)
	a.parts = append(a.parts, w)
	return w, nil
}

func (w *written) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if _, err := w.f.WriteAt(w.buf, w.flushed); err != nil {
		return fmt.Errorf("write pack %s: %w", w.pack.id, err)
	}
	w.flushed, w.buf = w.end(), w.buf[:0]
	return nil
}

// take owns a pack that nobody appends to and that is not full: the longest of them. Nil if there is none.
func (a *appender) take() (*written, error) {
	tried := map[packID]bool{}
	for range mostTries {
		p := a.candidate(tried)
		if p == nil {
			return nil, nil
		}
		tried[p.id] = true
		w, err := a.store.own(p)
		if err != nil || w == nil {
			if err != nil {
				return nil, fmt.Errorf("take pack %s: %w", p.id, err)
			}
			continue
		}
		if w.start < a.store.cfg.PackSize {
			return w, nil
		}
		a.store.release(w)
	}
	return nil, nil
}

func (a *appender) candidate(tried map[packID]bool) *pack {
	s := a.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	var best *pack
	for _, p := range s.packs {
		if !p.writer && !p.foreign && !tried[p.id] && p.valid < s.cfg.PackSize && (best == nil || p.valid > best.valid) {
			best = p
		}
	}
	return best
}

// own locks a pack for writing, looks once more where its last batch ends, has everything up to there durable, and cuts off
// what a dead writer left behind it. Nil if somebody else writes it, or it is gone.
func (s *Store) own(p *pack) (*written, error) {
	f, err := s.disk.open(p.file(), true)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := s.ownFile(p, f)
	if w == nil {
		err = errors.Join(err, f.Close())
	}
	return w, err
}

func (s *Store) ownFile(p *pack, f file) (*written, error) {
	if ok, err := f.own(); err != nil || !ok {
		return nil, err
	}
	s.mu.RLock()
	before := *p
	s.mu.RUnlock()
	if before.writer {
		return nil, nil
	}
	t, err := before.tail(f)
	if err != nil || t.foreign {
		return nil, err
	}
	s.mu.Lock()
	p.learn(t)
	p.writer = true
	synced := p.synced
	s.mu.Unlock()
	w := &written{pack: p, f: f, start: t.end, flushed: t.end}
	if t.end > synced {
		err = f.sync()
	}
	if err == nil && t.size > t.end {
		err = f.truncate(t.end)
	}
	if err == nil && t.end == packHeaderLen {
		_, err = f.WriteAt(packHeader(p.id), 0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		p.writer = false
		return nil, err
	}
	p.size, p.synced = t.end, t.end
	return w, nil
}

// create makes a pack, whose name is durable before anything is in it.
func (a *appender) create() (*written, error) {
	s := a.store
	for range mostTries {
		var id packID
		_, _ = rand.Read(id[:]) // it never fails
		p := &pack{id: id, size: packHeaderLen, valid: packHeaderLen, recent: map[store.Digest]entry{}, writer: true}
		f, err := s.disk.create(p.file())
		if err != nil {
			return nil, fmt.Errorf("make pack %s: %w", id, err)
		}
		ok, err := f.own() // not if another batch took it, or cleared it away, in this moment
		if err == nil && !ok {
			_ = f.Close()
			continue
		}
		if err == nil {
			_, err = f.WriteAt(packHeader(id), 0)
		}
		if err == nil {
			err = s.disk.syncDir()
		}
		if err != nil {
			return nil, fmt.Errorf("make pack %s: %w", id, errors.Join(err, s.disk.remove(p.file()), f.Close()))
		}
		s.mu.Lock()
		if old := s.packs[id]; old != nil {
			s.forget(old) // another goroutine looked at it already
		}
		s.packs[id] = p
		s.mu.Unlock()
		return &written{pack: p, f: f, created: true, start: packHeaderLen, flushed: packHeaderLen}, nil
	}
	return nil, errors.New("make a pack: others take each that is made")
}

// flush writes what is in memory.
func (a *appender) flush() error {
	for _, w := range a.parts {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// size is how many bytes of packs were added, frames included.
func (a *appender) size() (n int64) {
	for _, w := range a.parts {
		n += w.end() - w.start + frameSize(len(w.entries))
		if w.created {
			n += packHeaderLen
		}
	}
	return n
}

// finish makes everything durable and visible, pack after pack, so that what stands for other contents is never there
// before them. The room for all frames is taken before the first one, so that a disk which is full keeps nothing. With an
// error, what is not visible is for undo.
func (a *appender) finish() error {
	for _, w := range a.parts {
		if len(a.parts) == 1 {
			break
		}
		if err := w.reserve(); err != nil {
			return err
		}
	}
	for _, w := range a.parts {
		if err := a.store.finish(w); err != nil {
			return err
		}
	}
	return nil
}

// reserve takes the room of the frame.
func (w *written) reserve() error {
	if err := w.flush(); err != nil {
		return err
	}
	if _, err := w.f.WriteAt(make([]byte, frameSize(len(w.entries))), w.flushed); err != nil {
		return fmt.Errorf("write pack %s: %w", w.pack.id, err)
	}
	return nil
}

func (s *Store) finish(w *written) error {
	if len(w.entries) == 0 {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	f := frame{pack: w.pack.id, start: w.start, off: w.flushed, entries: w.entries}
	if _, err := w.f.WriteAt(f.encode(), f.off); err != nil {
		return fmt.Errorf("write pack %s: %w", w.pack.id, err)
	}
	if err := w.f.sync(); err != nil {
		return fmt.Errorf("sync pack %s: %w", w.pack.id, err)
	}
	w.done = true
	s.mu.Lock()
	p := w.pack
	for _, e := range w.entries {
		p.recent[e.digest] = e
		delete(p.bad, e.digest)
	}
	p.valid, p.size, p.synced = f.end(), f.end(), f.end()
	s.mu.Unlock()
	if p.valid >= s.cfg.PackSize {
		s.writeIdx(p)
	}
	return nil
}

// undo takes back what is not visible, and gives up the packs.
func (a *appender) undo() error {
	var errs []error
	for _, w := range a.parts {
		if w.done {
			continue
		}
		if w.created {
			errs = append(errs, notGone(a.store.disk.remove(w.pack.file())))
			a.store.mu.Lock()
			a.store.forget(w.pack)
			a.store.mu.Unlock()
		} else {
			errs = append(errs, w.f.truncate(w.start))
		}
	}
	a.release()
	return errors.Join(errs...)
}

// release gives up the packs.
func (a *appender) release() {
	for _, w := range a.parts {
		a.store.release(w)
	}
	a.parts = nil
}

func (s *Store) release(w *written) {
	s.mu.Lock()
	w.pack.writer = false
	s.mu.Unlock()
	_ = w.f.Close()
}

// outOfSpace names a full disk.
func outOfSpace(err error) error {
	if sys.NoSpace(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
