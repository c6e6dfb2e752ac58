//go:build unix

package capture

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// pieces is the part of a cache that is in memory.
type pieces struct {
	from io.Reader
	left int64  // bytes that are still to be read, without the checksum
	rest []byte // that were read and not used
	buf  []byte
	room reader // only its names and ends, for the next directory
	sum  *blake3.Hasher
	bad  bool
}

func (w *pieces) more() bool { return len(w.rest) > 0 || w.left > 0 }

// read has something read from what is there. Where that is not all of it, more is read, and it is tried again.
func (w *pieces) read(what func(*reader)) {
	for !w.bad {
		r := reader{rest: w.rest, names: w.room.names, ends: w.room.ends}
		what(&r)
		w.room = reader{names: r.names, ends: r.ends}
		if !r.bad {
			w.rest = r.rest
			return
		}
		w.fill()
	}
}

// fill reads more behind what is not used yet.
func (w *pieces) fill() {
	n := len(w.rest)
	if w.left == 0 {
		w.bad = true
		return
	}
	size := max(cachePiece, 2*n)
	if cap(w.buf) < size {
		w.buf = make([]byte, size)
	}
	w.buf = w.buf[:cap(w.buf)]
	copy(w.buf, w.rest)
	next := w.buf[n:min(int64(len(w.buf)), int64(n)+w.left)]
	_, err := io.ReadFull(w.from, next)
	_, _ = w.sum.Write(next) // a hash takes everything
	w.left -= int64(len(next))
	w.rest, w.bad = w.buf[:n+len(next)], err != nil
}

// whole reports whether all was read, and is what was written.
func (w *pieces) whole() bool {
	var end store.Digest
	if _, err := io.ReadFull(w.from, end[:]); err != nil || w.bad || w.more() {
		return false
	}
	return string(w.sum.Sum(nil)) == string(end[:])
}

// reader reads from a part of a cache. After a fault, or where something is missing, it gives zeros and is bad.
type reader struct {
	rest  []byte
	names []byte  // of a directory, behind each other
	ends  []int32 // where each ends
	bad   bool
}

// leastFile is the fewest bytes of an entry: name, stamp, kind, flags, racy.
const leastFile = 10

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, n = true, 0
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
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
	r.bad, r.rest = true, nil
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

func (r *reader) text() string { return string(r.take(r.unsigned())) }

func (r *reader) octet() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
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

// directory reads one. The names in it are parts of one text, which is all that it keeps.
func (r *reader) directory() *directory {
	d := &directory{path: r.text(), stamp: r.stamp(), racy: r.octet() != 0, same: true}
	if sum := r.take(8); !r.bad {
		d.rules = binary.BigEndian.Uint64(sum)
	}
	d.object = r.digest()
	n := r.unsigned()
	if r.bad || n > uint64(len(r.rest)/leastFile) {
		r.bad = true
		return d
	}
	d.files = make([]file, n)
	r.names, r.ends = r.names[:0], r.ends[:0]
	for i := range d.files {
		if r.bad {
			return d
		}
		r.names = append(r.names, r.take(r.unsigned())...)
		r.ends = append(r.ends, int32(len(r.names))) //nolint:gosec // no more than a cache has
		r.file(&d.files[i])
	}
	all, from := string(r.names), int32(0)
	for i, to := range r.ends {
		d.files[i].name, from = all[from:to], to
	}
	d.sum()
	return d
}

// file reads what follows the name of one.
func (r *reader) file(f *file) {
	f.stamp = r.stamp()
	f.kind, f.flags, f.racy = tree.Kind(r.octet()), tree.Flags(r.octet()), r.octet() != 0
	switch {
	case f.flags&tree.Skipped != 0:
		f.said = because(Why(r.text()))
	case f.kind == tree.Link:
		target := r.text()
		f.said = &target
	case f.kind == tree.File:
		f.digest = r.digest()
	}
}
