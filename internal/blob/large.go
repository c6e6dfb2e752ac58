package blob

import (
	"errors"
	"io"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/store"
)

// putChunks adds a content chunk by chunk, then the list that stands for the whole.
func (b *Batch) putChunks(c *chunker) (store.Digest, int64, error) {
	sum := blake3.New()
	l := lister{batch: b}
	for {
		piece, err := c.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return store.Digest{}, 0, err
		}
		_, _ = sum.Write(piece)
		d := store.Sum(piece)
		if err := b.put(d, piece); err != nil {
			return store.Digest{}, 0, err
		}
		if err := l.add(part{d, uint64(len(piece))}); err != nil {
			return store.Digest{}, 0, err
		}
	}
	whole := store.Digest(sum.Sum(nil))
	return whole, int64(l.total), l.finish(whole)
}

// lister gathers the parts of a content: at most one page of them and the list of pages.
type lister struct {
	batch *Batch
	parts []part
	pages []part
	total uint64
}

func (l *lister) add(p part) error {
	if len(l.parts) == pageParts {
		if err := l.page(); err != nil {
			return err
		}
	}
	l.parts = append(l.parts, p)
	l.total += p.size
	return nil
}

// page puts the parts as a content of their own.
func (l *lister) page() error {
	if len(l.pages) == pageParts {
		return ErrTooLarge
	}
	var b []byte
	var size uint64
	for _, p := range l.parts {
		b, size = appendPart(b, p), size+p.size
	}
	d := store.Sum(b)
	l.parts, l.pages = l.parts[:0], append(l.pages, part{d, size})
	return l.batch.put(d, b)
}

// finish adds the list.
func (l *lister) finish(whole store.Digest) error {
	all := list{parts: l.parts}
	if len(l.pages) > 0 {
		if err := l.page(); err != nil {
			return err
		}
		all = list{pages: true, parts: l.pages}
	}
	if !l.batch.begin(whole) {
		return l.batch.failure()
	}
	payload := all.encode()
	return l.batch.append(record{kind: kindList, stored: uint32(len(payload)), raw: l.total, digest: whole}, payload)
}
