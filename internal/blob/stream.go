package blob

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/store"
)

// Open returns a content of any size, and how many bytes it has. Its memory does not grow with the content. The whole is
// verified: bytes that are not those of the digest end with [ErrDamaged] instead of io.EOF, so what was read counts only
// after io.EOF.
func (s *Store) Open(d store.Digest) (io.ReadCloser, int64, error) {
	rec, payload, err := s.record(d)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", d, err)
	}
	r, err := s.stream(rec, payload)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", d, err)
	}
	return r, int64(rec.raw), nil
}

// stream reads the content of a record.
func (s *Store) stream(rec record, payload []byte) (*reader, error) {
	if rec.kind != kindList {
		b, err := s.content(rec, payload)
		if err != nil {
			return nil, err
		}
		return &reader{digest: rec.digest, piece: b, checked: true}, nil
	}
	l, err := parseList(payload, rec.raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r := &reader{store: s, digest: rec.digest, sum: blake3.New()}
	if l.pages {
		r.pages = l.parts
	} else {
		r.parts = l.parts
	}
	return r, nil
}

// reader reads a content piece by piece.
type reader struct {
	store   *Store
	digest  store.Digest
	sum     *blake3.Hasher
	pages   []part
	parts   []part
	piece   []byte
	checked bool // the whole was compared with its digest
	err     error
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.piece) == 0 && r.err == nil && len(p) > 0 {
		r.err = r.next()
	}
	if r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.piece)
	r.piece = r.piece[n:]
	return n, nil
}

// next gets the next piece, or says how the content ends.
func (r *reader) next() error {
	switch {
	case len(r.parts) > 0:
		b, err := r.get(r.parts[0])
		if err != nil {
			return err
		}
		_, _ = r.sum.Write(b)
		r.piece, r.parts = b, r.parts[1:]
		return nil
	case len(r.pages) > 0:
		page := r.pages[0]
		b, err := r.get(part{page.digest, 0})
		if err != nil {
			return err
		}
		if r.parts, err = parseParts(b, page.size); err != nil {
			return fmt.Errorf("read %s: %w: page %s: %w", r.digest, ErrDamaged, page.digest, err)
		}
		r.pages = r.pages[1:]
		return nil
	case !r.checked && !bytes.Equal(r.sum.Sum(nil), r.digest[:]):
		return fmt.Errorf("read %s: %w", r.digest, ErrDamaged)
	default:
		return io.EOF
	}
}

// get gets a part, of that many bytes unless its size is 0. A list cannot be a part, so that none leads back to itself.
func (r *reader) get(p part) ([]byte, error) {
	rec, payload, err := r.store.record(p.digest)
	var b []byte
	if err == nil {
		b, err = r.store.content(rec, payload)
	}
	switch {
	case errors.Is(err, ErrMissing):
		return nil, fmt.Errorf("read %s: %w: its part %s is missing", r.digest, ErrDamaged, p.digest)
	case err != nil:
		return nil, fmt.Errorf("read %s: part %s: %w", r.digest, p.digest, err)
	case p.size > 0 && uint64(len(b)) != p.size:
		return nil, fmt.Errorf("read %s: %w: its part %s has %d bytes instead of %d", r.digest, ErrDamaged, p.digest, len(b), p.size)
	}
	return b, nil
}

// Close ends the reading. A read after it gives [ErrClosed].
func (r *reader) Close() error {
	r.err, r.piece, r.parts, r.pages = ErrClosed, nil, nil, nil
	return nil
}
