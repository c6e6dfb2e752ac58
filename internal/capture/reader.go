//go:build unix

package capture

import (
	"encoding/binary"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// reader reads a cache. Its texts are parts of the cache's. After a fault it gives zeros and is bad.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) take(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.bad, n = true, 0
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) unsigned() uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.bad, r.rest = true, ""
	return 0
}

func (r *reader) signed() int64 {
	u := r.unsigned()
	v := int64(u >> 1) //nolint:gosec // zigzag
	if u&1 != 0 {
		v = ^v
	}
	return v
}

func (r *reader) text() string { return r.take(r.unsigned()) }

func (r *reader) octet() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) digest() (d store.Digest) {
	copy(d[:], r.take(uint64(len(d))))
	return d
}

func (r *reader) stamp() (s stamp) {
	s.ino, s.size, s.mtime = r.unsigned(), r.signed(), r.signed()
	s.ctime = s.mtime + r.signed()
	s.mode = uint32(r.unsigned()) //nolint:gosec // it was one
	return s
}

func (r *reader) directory() *directory {
	d := &directory{path: r.text(), stamp: r.stamp(), racy: r.octet() != 0, same: true}
	if sum := r.take(8); !r.bad {
		d.rules = binary.BigEndian.Uint64([]byte(sum))
	}
	d.object = r.digest()
	n := r.unsigned()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return d
	}
	d.files = make([]file, n)
	for i := range d.files {
		f := &d.files[i]
		f.name, f.stamp = r.text(), r.stamp()
		f.kind, f.flags, f.racy = tree.Kind(r.octet()), tree.Flags(r.octet()), r.octet() != 0
		switch {
		case f.flags&tree.Skipped != 0:
			f.why = Why(r.text())
		case f.kind == tree.Link:
			f.target = r.text()
		case f.kind == tree.File:
			f.digest = r.digest()
		}
	}
	d.sum()
	return d
}
