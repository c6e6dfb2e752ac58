package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
)

// checkpoint copies the write-ahead log into the database when it is long enough. It runs outside the lock: other
// processes may write meanwhile. Readers bound themselves to short transactions, so that the log can start over.
func (w *writer) checkpoint() {
	if w.since < w.sizes.look || w.store.poison.Load() != nil {
		return
	}
	w.since = 0
	size, left, err := w.wal("PRAGMA wal_checkpoint(NOOP)")
	switch {
	case err != nil || left < w.sizes.checkpoint:
	case size < max(w.sizes.restart, w.restartAt):
		if size, left, err = w.wal("PRAGMA wal_checkpoint(PASSIVE)"); err == nil && left > 0 && size >= w.sizes.reuse {
			err = w.rest()
		}
	default:
		// A reader that was stopped in the middle must not make every checkpoint wait for it.
		_, _, err = w.wal("PRAGMA wal_checkpoint(RESTART)")
		w.restartAt = 2 * size
	}
	switch w.conn.engine.primary(err) {
	case codeIOErr, codeCorrupt:
		// The pages that were copied may or may not be on disk, and a second try could be told that they are.
		_ = w.store.poisonWith(fmt.Errorf("checkpoint: %w", err))
	}
}

// rest copies what others have written during a checkpoint, while they wait: only a log that is copied as a whole
// starts over, and in a file that does not grow a sync takes half the time.
func (w *writer) rest() error {
	if err := w.lock.acquire(); err != nil {
		return err
	}
	defer w.lock.release()
	_, _, err := w.wal("PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

// wal runs a checkpoint pragma and returns the log's length and how much of it is left to copy, in pages.
func (w *writer) wal(pragma string) (size, left int64, err error) {
	_, err = w.conn.one(pragma, nil, func(v []driver.Value) error {
		size, left = number(v[1]), number(v[1])-number(v[2])
		return nil
	})
	return size, left, err
}

// keepPages is a megabyte: what an opening reads of it costs less than the syncs that its removal would.
const keepPages = 256

// close closes the writing connection and the reading ones. The last connection that may write takes the write-ahead
// log away when it goes, at the price of two syncs, and of two more for the process that makes it anew. A short log is
// rather left to the next opening, as a kill would leave it: a reading connection goes last then, which cannot write.
func (w *writer) close(readers *pool) error {
	reading := readers.drain()
	if err := w.lock.acquire(); err != nil {
		return errors.Join(err, closeAll(reading))
	}
	leave := w.lock.enter()
	if w.short() && len(reading) == 0 {
		if c, err := openConn(w.store.cfg, w.store.path, readOnly); err == nil {
			reading = append(reading, c)
		}
	}
	var err error
	if w.short() && len(reading) > 0 && reading[0].touch() == nil {
		err = errors.Join(w.conn.close(), closeAll(reading))
	} else {
		err = errors.Join(closeAll(reading), w.conn.close())
	}
	leave()
	w.lock.release()
	if w.mark != nil {
		err = errors.Join(err, w.mark.Close())
	}
	return errors.Join(err, w.log.Close(), w.lock.close())
}

// short reports whether the write-ahead log may stay: the next opening reads it.
func (w *writer) short() bool {
	size, _, err := w.wal("PRAGMA wal_checkpoint(NOOP)")
	return err == nil && size <= w.sizes.keep
}
