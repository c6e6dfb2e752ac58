package tree

import (
	"encoding/binary"
	"fmt"
	"math"
)

// least is the fewest bytes of an entry: kind, flags, mode, a name of one byte with its length, size.
const least = 6

// Decode reads the object of a directory; what comes back is sorted by name. Every object that [Encode] would not write
// is ErrInvalid, so what Decode takes encodes to the same bytes. Memory is in proportion to the object, whatever it claims.
func Decode(b []byte) ([]Entry, error) {
	r := reader{b: b, s: string(b)}
	if r.byte() != version && !r.bad {
		return nil, fmt.Errorf("directory object of version %d, known is %d: %w", b[0], version, ErrInvalid)
	}
	count := r.uvarint(MaxEntries)
	if r.bad || count > uint64(len(b)-r.at)/least {
		return nil, fmt.Errorf("directory object of %d bytes: its beginning is broken: %w", len(b), ErrInvalid)
	}
	entries := make([]Entry, count)
	for i := range entries {
		e := &entries[i]
		r.entry(e)
		if r.bad {
			return nil, fmt.Errorf("directory object of %d bytes: entry %d is broken: %w", len(b), i, ErrInvalid)
		}
		if err := e.check(); err != nil {
			return nil, err
		}
		if i > 0 && entries[i-1].Name >= e.Name {
			return nil, fmt.Errorf("directory object: entry %.200q is not in its place: %w", e.Name, ErrInvalid)
		}
	}
	if r.at != len(b) {
		return nil, fmt.Errorf("directory object: %d bytes follow its end: %w", len(b)-r.at, ErrInvalid)
	}
	return entries, nil
}

// reader reads an object from its front. After the first failure bad is set, and what it gives means nothing.
type reader struct {
	b   []byte
	s   string // the same bytes; names and targets are parts of it
	at  int
	bad bool
}

func (r *reader) entry(e *Entry) {
	e.Kind, e.Flags = Kind(r.byte()), Flags(r.byte())
	e.Mode = uint32(r.uvarint(MaxMode)) //nolint:gosec // bounded
	e.Name = r.text(MaxName)
	e.Size = int64(r.uvarint(math.MaxInt64)) //nolint:gosec // bounded
	if e.Kind != Dir {
		z := r.uvarint(math.MaxUint64)
		e.MTime = int64(z>>1) ^ -int64(z&1) //nolint:gosec // zigzag
	}
	if e.hasDigest() {
		copy(e.Digest[:], r.take(len(e.Digest)))
	}
	if e.Kind == Link {
		e.Target = r.text(MaxTarget)
	}
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) take(n int) string {
	if r.bad || n > len(r.b)-r.at {
		r.bad = true
		return ""
	}
	r.at += n
	return r.s[r.at-n : r.at]
}

// uvarint reads a number of at most max, in its shortest form.
func (r *reader) uvarint(max uint64) uint64 {
	if r.bad {
		return 0
	}
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 || v > max || n > 1 && r.b[r.at+n-1] == 0 {
		r.bad = true
		return 0
	}
	r.at += n
	return v
}

func (r *reader) text(max uint64) string { return r.take(int(r.uvarint(max))) } //nolint:gosec // bounded by max
