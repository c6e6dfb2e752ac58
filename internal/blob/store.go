package blob

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/perdure/perdure/store"
)

const (
	// MaxBlob is how many bytes a content may have that is handed over or given back in one piece.
	MaxBlob = 8 << 20
	// ChunkMin is the length in bytes over which a content is kept in chunks.
	ChunkMin = 1 << 20
	// DefaultPackSize is how many bytes a pack has at least before the next one is begun.
	DefaultPackSize = 64 << 20

	maxFrame = 1 << 21 // entries of one batch in one pack
	rollAt   = 1 << 17 // records of a batch after which the next pack is begun
	openIdx  = 128     // index files that are kept open
)

var (
	// ErrMissing says that the store has no such content.
	ErrMissing = errors.New("no such content in the store")
	// ErrDamaged says that bytes on the disk are not those that were written.
	ErrDamaged = errors.New("the stored content is damaged")
	// ErrTooLarge says that a content is over [MaxBlob] and has to be read or put as a stream.
	ErrTooLarge = errors.New("the content is too large for one piece")
	// ErrQuota says that a batch would need more than the quota; nothing of it was kept.
	ErrQuota = errors.New("the quota of the store is used up")
	// ErrBound says that a batch would add more than its caller lets it; nothing of it was kept.
	ErrBound = errors.New("it would add more than it may")
	// ErrNoSpace says that the disk is full; nothing of the batch was kept.
	ErrNoSpace = errors.New("no space left on the disk of the store")
	// ErrClosed says that a store or batch is used after its end.
	ErrClosed = errors.New("it is closed")
)

// Config says how a store behaves; its zero value is what a home uses.
type Config struct {
	// Quota bounds the bytes of all packs; 0: no bound. A batch that would pass it fails with [ErrQuota] and leaves
	// nothing.
	Quota int64
	// PackSize is how long a pack may be for a batch to begin in it, and when a batch goes on in another one; 0 is
	// [DefaultPackSize].
	PackSize int64
	// Sync makes a file or directory durable; nil is fdatasync.
	Sync func(*os.File) error
	// Fault is asked before each step that changes the disk and named by it; the step is not made if it gives an error.
	Fault func(step string) error
}

// Store is the contents below one directory. It may be used by many goroutines.
type Store struct {
	cfg  Config
	disk disk

	refreshing sync.Mutex // one look at the disk at a time
	mu         sync.RWMutex
	packs      map[packID]*pack
	idxOpen    int
	litter     []string // files in packs that belong to no pack
	wrote      bool     // a batch was begun
	closed     bool
}

// Open opens the store of a directory. It reads and makes nothing: the first batch makes the directory, whose parent has
// to be there. Any number of processes may have it open.
func Open(dir string, cfg Config) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	sync := cfg.Sync
	if sync == nil {
		sync = flush
	}
	return openOn(&osDisk{dir: dir, sync: sync}, cfg)
}

func openOn(d disk, cfg Config) (*Store, error) {
	if cfg.PackSize < 0 || cfg.Quota < 0 {
		return nil, errors.New("open blobs: a size is negative")
	}
	if cfg.PackSize == 0 {
		cfg.PackSize = DefaultPackSize
	}
	if cfg.Fault != nil {
		d = faulty{d, cfg.Fault}
	}
	return &Store{cfg: cfg, disk: d, packs: map[packID]*pack{}}, nil
}

// Close gives back what the store holds open. Batches have to be closed before. A second call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.indexLarge()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		p.drop()
	}
	return s.disk.close()
}

// refresh looks at the disk: packs that are new or gone, batches that others committed.
func (s *Store) refresh() error {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	names, err := s.disk.list()
	if err != nil {
		return fmt.Errorf("look at the packs: %w", err)
	}
	slices.Sort(names) // a pack comes after its index
	seen := make(map[packID]bool, len(names))
	var litter []string
	for _, name := range names {
		id, ok := packName(name, packExt)
		if ok {
			if seen[id], err = s.look(id); err != nil {
				return fmt.Errorf("look at pack %s: %w", id, err)
			}
		}
	}
	for _, name := range names {
		if id, ok := packName(name, idxExt); strings.HasSuffix(name, tempExt) || ok && !seen[id] {
			litter = append(litter, name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.packs {
		if !seen[id] && !p.writer {
			s.forget(p)
		}
	}
	s.litter = litter
	return nil
}

// forget drops a pack that is gone. The caller has the lock.
func (s *Store) forget(p *pack) {
	if p.idx != nil && p.idx.f != nil {
		s.idxOpen--
	}
	p.drop()
	delete(s.packs, p.id)
}

// look brings what is known of one pack up to date; false if it is gone.
func (s *Store) look(id packID) (bool, error) {
	s.mu.RLock()
	p, keep := s.packs[id], s.idxOpen < openIdx
	known := p != nil && (p.writer || p.foreign || p.size == p.valid && p.valid >= s.cfg.PackSize)
	s.mu.RUnlock()
	if known {
		return true, nil
	}
	if p == nil {
		p, err := load(s.disk, id, keep)
		if isGone(err) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.packs[id] != nil { // a batch of this process has just made it
			p.drop()
			return true, nil
		}
		if p.idx != nil && p.idx.f != nil {
			s.idxOpen++
		}
		s.packs[id] = p
		return true, nil
	}
	return s.lookAgain(p)
}

func (s *Store) lookAgain(p *pack) (bool, error) {
	size, err := s.disk.size(p.file())
	if isGone(err) || err != nil {
		return !isGone(err), notGone(err)
	}
	s.mu.RLock()
	same := size == p.size && size == p.valid
	before := *p
	s.mu.RUnlock()
	if same {
		return true, nil
	}
	if size < before.valid { // a batch that was seen was taken back, since its sync failed
		return true, s.scanWhole(p)
	}
	f, err := s.disk.open(p.file(), false)
	if err != nil {
		return !isGone(err), notGone(err)
	}
	defer func() { _ = f.Close() }()
	t, err := before.tail(f)
	if err != nil {
		return true, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.writer && p.valid == before.valid { // else a batch of this process knows better
		p.learn(t)
	}
	return true, nil
}

func notGone(err error) error {
	if isGone(err) {
		return nil
	}
	return err
}

// find looks a digest up in what is known.
func (s *Store) find(d store.Digest) (*pack, entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if e, ok := p.find(s.disk, d); ok {
			return p, e, true
		}
	}
	return nil, entry{}, false
}

// Has reports whether the store has a content. That is no promise for what comes after a Sweep: what is to be relied on
// is asked of a batch.
func (s *Store) Has(d store.Digest) (bool, error) {
	if s.has(d) {
		return true, nil
	}
	if err := s.refresh(); err != nil {
		return false, err
	}
	return s.has(d), nil
}

// has looks for a content with all that it needs.
func (s *Store) has(d store.Digest) bool {
	p, e, ok := s.find(d)
	if ok && e.kind == kindDelta {
		base, err := s.baseOf(p, e)
		if _, _, there := s.findPlain(base); err == nil && there {
			return true
		}
		_, _, there := s.findPlain(d) // it was stored anew since
		return there
	}
	if !ok || e.kind.plain() {
		return ok
	}
	parts, err := s.parts(d)
	for _, p := range parts {
		if _, e, ok := s.find(p); !ok || e.kind == kindList {
			return false
		}
	}
	return err == nil
}
