package blob

import (
	"bytes"
	"strings"

	"github.com/perdure/perdure/store"
)

const (
	packsDir = "packs"
	packExt  = ".pack"
	idxExt   = ".idx"
	tempExt  = ".tmp" // behind idxExt and what makes it unique
)

// pack is what a process knows of a pack. The store's lock guards it.
type pack struct {
	id        packID
	size      int64 // of the file when it was looked at
	valid     int64 // where its last whole batch ends
	synced    int64 // up to here its bytes are known to be durable
	idx       *idx  // nil: none
	recent    map[store.Digest]entry
	writer    bool // a batch of this process appends to it
	unindexed bool // its index file is not what was written
	foreign   bool // no pack of this version: left alone
	// bad has the digests of records that were read and found damaged, so that the content is stored anew if it comes
	// again.
	bad map[store.Digest]bool
}

func (p *pack) file() string { return packsDir + "/" + p.id.String() + packExt }

func (p *pack) idxFile() string { return packsDir + "/" + p.id.String() + idxExt }

// covered is where the index file ends to speak of the pack.
func (p *pack) covered() int64 {
	if p.idx == nil {
		return packHeaderLen
	}
	return p.idx.covers
}

// find looks a digest up.
func (p *pack) find(d disk, digest store.Digest) (entry, bool) {
	if p.bad[digest] {
		return entry{}, false
	}
	return p.lookup(d, digest)
}

// lookup is find that gives damaged records, too.
func (p *pack) lookup(d disk, digest store.Digest) (entry, bool) {
	if e, ok := p.recent[digest]; ok {
		return e, true
	}
	if p.idx == nil || !p.idx.may(digest) {
		return entry{}, false
	}
	f := p.idx.f
	if f == nil {
		var err error
		if f, err = d.open(p.idxFile(), false); err != nil {
			return entry{}, false
		}
		defer func() { _ = f.Close() }()
	}
	e, ok, err := p.idx.find(f, digest)
	return e, ok && err == nil
}

// entries gives all that the pack has, from its index file and from memory.
func (p *pack) entries(d disk) ([]entry, error) {
	var all []entry
	if p.idx != nil {
		f, err := d.open(p.idxFile(), false)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		if all, err = p.idx.all(f); err != nil {
			return nil, err
		}
	}
	for _, e := range p.recent {
		all = append(all, e)
	}
	return all, nil
}

// entriesOf gives all that a pack has, and its size. An index file that is not what was written is given up.
func (s *Store) entriesOf(p *pack) ([]entry, int64, error) {
	for try := 0; ; try++ {
		s.mu.RLock()
		entries, err := p.entries(s.disk)
		size := p.size
		s.mu.RUnlock()
		if err == nil || try > 0 {
			return entries, size, err
		}
		if err := s.scanWhole(p); err != nil {
			return nil, size, err
		}
	}
}

// drop closes what the pack holds open.
func (p *pack) drop() {
	if p.idx != nil && p.idx.f != nil {
		_ = p.idx.f.Close()
		p.idx.f = nil
	}
}

// load learns a pack: what its index file says, and what a scan of the rest finds.
func load(d disk, id packID, keepOpen bool) (*pack, error) {
	p := &pack{id: id, valid: packHeaderLen, recent: map[store.Digest]entry{}}
	f, err := d.open(p.file(), false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if p.size, err = f.size(); err != nil {
		return nil, err
	}
	if x, err := d.open(p.idxFile(), false); err == nil {
		p.idx, err = readIdx(x, id, p.size)
		if err == nil && keepOpen {
			p.idx.f = x
		} else {
			_ = x.Close()
		}
		p.unindexed = err != nil
	}
	p.valid, p.synced = p.covered(), p.covered()
	t, err := p.tail(f)
	if err == nil {
		p.learn(t)
	}
	return p, err
}

// tail is what a file has behind the batches that are known.
type tail struct {
	scanned
	size    int64
	foreign bool
}

// tail scans what follows the batches that are known. It changes nothing.
func (p *pack) tail(f file) (tail, error) {
	size, err := f.size()
	t := tail{scanned{end: p.valid}, size, p.foreign}
	if err != nil || size < packHeaderLen || t.foreign {
		return t, err
	}
	if p.valid == packHeaderLen {
		head := make([]byte, packHeaderLen)
		if _, err := f.ReadAt(head, 0); err != nil {
			return t, err
		}
		if !bytes.Equal(head, packHeader(p.id)) {
			// Zeros did not reach the disk. Anything else is of another version, or no pack, and not touched.
			t.foreign = len(bytes.Trim(head, "\x00")) > 0
			return t, nil
		}
	}
	if size > p.valid {
		t.scanned, err = scan(f, p.id, p.valid, size)
	}
	return t, err
}

// learn takes over what a scan found.
func (p *pack) learn(t tail) {
	p.size, p.valid, p.foreign = t.size, t.end, t.foreign
	for _, e := range t.entries {
		p.recent[e.digest] = e
		delete(p.bad, e.digest)
	}
}

// packName reads the name of a pack's file.
func packName(name, ext string) (packID, bool) {
	base, ok := strings.CutSuffix(name, ext)
	if !ok {
		return packID{}, false
	}
	return parsePackID(base)
}
