package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/perdure/perdure/store"
)

// Batch adds contents together. Put, PutFrom and Has may be called from many goroutines at once; Commit and Close wait for
// those that run.
type Batch struct {
	store *Store
	lock  io.Closer
	base  int64 // bytes of all packs when it began; of a store without a quota: 0
	most  int64 // bytes that it may add; 0: no bound but the quota

	state sync.RWMutex // held for reading by what adds
	done  bool         // committed or closed

	mu     sync.Mutex
	wrote  *sync.Cond            // a content of added is written, or the batch failed
	added  map[store.Digest]bool // false: being written
	relied map[*pack][]entry     // what the caller relies on and is not known to be durable
	out    appender
	err    error // the first failure: nothing more is added, Commit gives it
}

// Batch begins a batch. It waits while Sweep takes a step, about a second at most, and keeps Sweep from the next one until
// it is closed.
func (s *Store) Batch(ctx context.Context) (*Batch, error) {
	s.mu.Lock()
	closed := s.closed
	s.wrote = true
	s.mu.Unlock()
	if closed {
		return nil, fmt.Errorf("begin a batch: %w", ErrClosed)
	}
	lock, err := s.share(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a batch: %w", outOfSpace(err))
	}
	// Only now, since Sweep may have taken away what was known before.
	if err := s.refresh(); err != nil {
		return nil, errors.Join(fmt.Errorf("begin a batch: %w", err), lock.Close())
	}
	b := &Batch{store: s, lock: lock, added: map[store.Digest]bool{}, relied: map[*pack][]entry{}, out: appender{store: s}}
	b.wrote = sync.NewCond(&b.mu)
	s.tidy()
	if s.cfg.Quota > 0 {
		b.base = s.bytes()
	}
	return b, nil
}

// Bound has the batch fail with [ErrBound] as soon as it would add more than that many bytes to the packs; nothing of it is
// kept then. What the store has already costs nothing. It comes before the first content.
func (b *Batch) Bound(most int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = max(1, most) // no record is so small
}

// Added is how many bytes the batch adds to the packs, as far as contents were put, with all that surrounds them.
func (b *Batch) Added() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.size()
}

// Put adds a content of at most [MaxBlob] bytes and gives its digest. One that the store has costs a lookup.
func (b *Batch) Put(data []byte) (store.Digest, error) {
	if len(data) > MaxBlob {
		return store.Digest{}, fmt.Errorf("put %d bytes: %w", len(data), ErrTooLarge)
	}
	b.state.RLock()
	defer b.state.RUnlock()
	if b.done {
		return store.Digest{}, fmt.Errorf("put: %w", ErrClosed)
	}
	d := store.Sum(data)
	if len(data) > ChunkMin {
		if b.known(d) {
			return d, nil
		}
		buf := buffers.Get().(*[]byte)
		defer buffers.Put(buf)
		_, _, err := b.putChunks(&chunker{r: bytes.NewReader(data), buf: *buf})
		return d, err
	}
	return d, b.put(d, data)
}

// PutFrom adds what is read, of any size, and gives its digest and length. Over [ChunkMin] it is kept in chunks, so that
// a content which shares most of its bytes with one that is there takes little more. Its memory does not grow with the
// content. An error of the reader is given back, and the batch goes on.
func (b *Batch) PutFrom(r io.Reader) (store.Digest, int64, error) {
	b.state.RLock()
	defer b.state.RUnlock()
	if b.done {
		return store.Digest{}, 0, fmt.Errorf("put: %w", ErrClosed)
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n, err := io.ReadFull(r, (*buf)[:ChunkMin+1])
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		d := store.Sum((*buf)[:n])
		return d, int64(n), b.put(d, (*buf)[:n])
	case err != nil:
		return store.Digest{}, 0, err
	}
	c := &chunker{r: r, buf: *buf, to: n}
	return b.putChunks(c)
}

// put adds a content that is kept in one record.
func (b *Batch) put(d store.Digest, data []byte) error { return b.putLike(d, data, store.Digest{}) }

// putLike is put of what may be stored as a delta.
func (b *Batch) putLike(d store.Digest, data []byte, like store.Digest) error {
	if !b.begin(d) {
		return b.failure()
	}
	scratch := buffers.Get().(*[]byte)
	defer buffers.Put(scratch)
	delta, err := b.delta(d, data, like)
	if err != nil {
		return b.fail(err)
	}
	if delta != nil && len(delta) <= len(data)/16 {
		return b.append(record{kind: kindDelta, stored: uint32(len(delta)), raw: uint64(len(data)), digest: d}, delta)
	}
	k, payload, err := squeeze(data, *scratch)
	if err != nil {
		return b.fail(err)
	}
	if delta != nil && len(delta) <= len(payload)/2 {
		k, payload = kindDelta, delta
	}
	return b.append(record{kind: k, stored: uint32(len(payload)), raw: uint64(len(data)), digest: d}, payload)
}

// begin reports whether a content has to be added, by the caller, who comes to append or fail with it.
func (b *Batch) begin(d store.Digest) bool {
	if _, ok := b.rely(d); ok {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.has(d) || b.err != nil {
		return false
	}
	b.added[d] = false
	return true
}

// known reports whether a content is there, with all its parts, or was added.
func (b *Batch) known(d store.Digest) bool {
	there, k := b.record(d)
	if k != kindList {
		return there
	}
	parts, err := b.store.parts(d)
	for _, p := range parts {
		if there, k := b.record(p); !there || k == kindList {
			return false
		}
	}
	return err == nil
}

// record reports whether a record of a content is there or was added; 0 is the kind of one that was added.
func (b *Batch) record(d store.Digest) (bool, kind) {
	b.mu.Lock()
	has := b.has(d)
	b.mu.Unlock()
	if has {
		return true, 0
	}
	e, ok := b.rely(d)
	return ok, e.kind
}

// has reports whether a content was added. It waits for one that is being added, so that what stands for others comes
// behind them. The caller has the lock.
func (b *Batch) has(d store.Digest) bool {
	for {
		written, there := b.added[d]
		if !there || written || b.err != nil {
			return there && written
		}
		b.wrote.Wait()
	}
}

// rely looks for a record in the store, for a delta with its base. Commit has it durable.
func (b *Batch) rely(d store.Digest) (entry, bool) {
	p, e, ok := b.store.find(d)
	if !ok || e.kind == kindDelta && !b.relyOnBase(p, e) {
		return e, false
	}
	b.durable(p, e)
	return e, true
}

// durable has Commit see to it that a record of the store is durable.
func (b *Batch) durable(p *pack, e entry) {
	b.store.mu.RLock()
	durable := e.end() <= p.synced
	b.store.mu.RUnlock()
	if !durable {
		b.mu.Lock()
		b.relied[p] = append(b.relied[p], e)
		b.mu.Unlock()
	}
}

// append writes a record behind those before it.
func (b *Batch) append(rec record, payload []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.wrote.Broadcast()
	if b.err != nil {
		return b.err
	}
	err := b.out.put(rec, payload)
	if err == nil && b.store.cfg.Quota > 0 && b.base+b.out.size() > b.store.cfg.Quota {
		err = ErrQuota
	}
	if err == nil && b.most > 0 && b.out.size() > b.most {
		err = ErrBound
	}
	if err != nil {
		b.err = fmt.Errorf("put %s: %w", rec.digest, outOfSpace(err))
		return b.err
	}
	b.added[rec.digest] = true
	return nil
}

func (b *Batch) fail(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.wrote.Broadcast()
	if b.err == nil {
		b.err = err
	}
	return b.err
}

func (b *Batch) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Has reports whether a content is in the store or was put into the batch. What it has stays until Close, and is durable
// once Commit returned. That says nothing of what a tree names: one that nothing leads to may outlive its parts.
func (b *Batch) Has(d store.Digest) bool {
	b.state.RLock()
	defer b.state.RUnlock()
	return !b.done && b.known(d)
}

// Commit makes what was put durable and visible to all. With an error nothing of it is needed: at most some contents that
// nobody names are left, for Sweep. After it, append the event that names the contents, then Close.
func (b *Batch) Commit() error {
	b.state.Lock()
	defer b.state.Unlock()
	if b.done {
		return fmt.Errorf("commit: %w", ErrClosed)
	}
	b.done = true
	err := b.err
	if err == nil {
		err = b.commit()
	}
	if err != nil {
		b.err = err
		return fmt.Errorf("commit: %w", errors.Join(err, b.out.undo()))
	}
	b.out.release()
	return nil
}

func (b *Batch) commit() error {
	for p, entries := range b.relied {
		if err := b.store.secure(p, entries); err != nil {
			return err
		}
	}
	if err := b.out.flush(); err != nil {
		return outOfSpace(err)
	}
	if q := b.store.cfg.Quota; q > 0 && len(b.out.parts) > 0 {
		if err := b.store.withinQuota(q, &b.out); err != nil {
			return err
		}
	}
	return outOfSpace(b.out.finish())
}

// Close ends the batch and lets Sweep go on. Without Commit nothing of it remains. A second call does nothing.
func (b *Batch) Close() error {
	b.state.Lock()
	defer b.state.Unlock()
	b.done = true
	if b.lock == nil {
		return nil
	}
	err := errors.Join(b.out.undo(), b.lock.Close())
	b.lock = nil
	return err
}
