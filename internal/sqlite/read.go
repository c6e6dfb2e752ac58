package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"

	"github.com/perdure/perdure/store"
)

// Bounds of one page: one transaction reads no more, so that no reader keeps the write-ahead log from starting over.
const (
	pageRows  = 1000
	pageBytes = 8 << 20
)

const sqlEvents = `SELECT seq, kind, time, flags, actor_type, actor_id, codec, digest, hash, body FROM event
	WHERE session_no = ?1 AND seq >= ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4`

// Read yields a session's own events; see [store.Log]. Each is verified against the one before it, and the newest
// against the session's head.
func (s *Store) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		fail := func(err error) { yield(store.Event{}, fmt.Errorf("read session %s: %w", id, err)) }
		r, err := s.newReader(ctx, id, max(from, 1), to)
		if err != nil {
			fail(err)
			return
		}
		for r.next <= r.to {
			page, err := r.page(ctx)
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				fail(err)
				return
			}
		}
	}
}

// reader is one walk along a log. The end is fixed when it begins; what lies before never changes.
type reader struct {
	store *Store
	id    string
	sno   int64
	head  store.Head
	prev  store.Digest // hash of the event before next
	next  int64
	to    int64
}

func (s *Store) newReader(ctx context.Context, id string, from, to int64) (*reader, error) {
	r := &reader{store: s, id: id, next: from, to: to}
	err := s.read(ctx, func(c *conn) error {
		found, err := c.one("SELECT sno, head_seq, head_hash, base_hash FROM session WHERE id = ?1", []any{id}, func(v []driver.Value) error {
			r.sno, r.head, r.prev = number(v[0]), store.Head{Seq: number(v[1]), Hash: digest(v[2])}, digest(v[3])
			return nil
		})
		if err == nil && !found {
			err = store.Missing(id)
		}
		if to == 0 || to > r.head.Seq {
			r.to = r.head.Seq
		}
		if err != nil || from == 1 || from > r.to {
			return err
		}
		found, err = c.one("SELECT hash FROM event WHERE session_no = ?1 AND seq = ?2", []any{r.sno, from - 1}, func(v []driver.Value) error {
			r.prev = digest(v[0])
			return nil
		})
		if err == nil && !found {
			err = &store.CorruptError{Session: id, Seq: from - 1, Cause: errMissing}
		}
		return err
	})
	return r, r.damage(err)
}

var (
	errMissing  = errors.New("it is missing")
	errHead     = errors.New("it is not the event that the session's head names")
	errPageFull = errors.New("page is full")
)

// page reads and verifies the next events. What it returns is good even if it also returns an error.
func (r *reader) page(ctx context.Context) ([]store.Event, error) {
	events := make([]store.Event, 0, min(r.to-r.next+1, pageRows))
	bytes := 0
	err := r.store.read(ctx, func(c *conn) error {
		return c.query(sqlEvents, []any{r.sno, r.next, r.to, pageRows}, func(v []driver.Value) error {
			e, err := scanEvent(v)
			if err != nil {
				return &store.CorruptError{Session: r.id, Seq: r.next, Cause: err}
			}
			if err := r.accept(e); err != nil {
				return err
			}
			events = append(events, e)
			if bytes += len(e.Body); bytes >= pageBytes {
				return errPageFull
			}
			return nil
		})
	})
	switch {
	case errors.Is(err, errPageFull):
		err = nil
	case err == nil && len(events) < pageRows && r.next <= r.to:
		err = r.missing(ctx)
	}
	return events, r.damage(err)
}

// accept verifies an event and moves on.
func (r *reader) accept(e store.Event) error {
	if e.Seq != r.next {
		return &store.CorruptError{Session: r.id, Seq: r.next, Cause: errMissing}
	}
	if err := store.Verify(r.prev, r.id, e); err != nil {
		return &store.CorruptError{Session: r.id, Seq: e.Seq, Cause: err}
	}
	if e.Seq == r.head.Seq && e.Hash != r.head.Hash {
		return &store.CorruptError{Session: r.id, Seq: e.Seq, Cause: errHead}
	}
	r.prev, r.next = e.Hash, e.Seq+1
	return nil
}

// missing tells a log that ends too early from a session that was deleted meanwhile.
func (r *reader) missing(ctx context.Context) error {
	err := r.store.read(ctx, func(c *conn) error {
		found, err := c.one("SELECT 1 FROM session WHERE sno = ?1", []any{r.sno}, nil)
		if err == nil && !found {
			err = store.ErrNotFound
		}
		return err
	})
	if err != nil {
		return err
	}
	return &store.CorruptError{Session: r.id, Seq: r.next, Cause: errMissing}
}

// damage turns what SQLite says of a broken page into the event that could not be read.
func (r *reader) damage(err error) error {
	switch r.store.cfg.engine.primary(err) {
	case codeCorrupt, codeNotADB:
		return &store.CorruptError{Session: r.id, Seq: r.next, Cause: r.store.cfg.engine.told(err)}
	}
	return err
}

// errType is a value that no writer of ours left there, and that a conversion would hide from the hash.
var errType = errors.New("a column has a value of another type")

func scanEvent(v []driver.Value) (store.Event, error) {
	flags, codec := number(v[3]), number(v[6])
	e := store.Event{
		Seq: number(v[0]), Kind: store.Kind(text(v[1])), Time: number(v[2]), Flags: store.Flags(flags),
		Actor: store.Actor{Type: store.ActorType(text(v[4])), ID: text(v[5])}, Codec: uint8(codec),
		Digest: digest(v[7]), Hash: digest(v[8]),
	}
	e.Body = body(v[9], e.Digest)
	if flags != int64(e.Flags) || codec != int64(e.Codec) || v[9] != nil && e.Body == nil {
		return e, errType
	}
	return e, nil
}
