package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxRebuilt is how many bytes of a database are written anew after a deletion: as much is held in memory meanwhile.
const maxRebuilt = 256 << 20

// Scrub makes what was deleted unreadable; see [store.Scrubber]. Rows are overwritten when they are deleted. What this
// adds: bytes that older versions of them left in pages, and the write-ahead log. The database is written anew, which
// makes it as small as it can be; one beyond 256 MiB is not, and one on a disk without room for it either: their free
// pages, which are overwritten, are kept for new sessions.
func (s *Store) Scrub(ctx context.Context) error {
	err := s.sweep(ctx)
	if err == nil {
		if _, err = s.begin(ctx); err == nil {
			err = s.writer.alone(ctx, s.rebuild)
		}
	}
	if err != nil {
		return fmt.Errorf("scrub store %s: %w", s.home, err)
	}
	return nil
}

// rebuild empties the log, writes the database anew if that can be done, and empties the log again.
func (s *Store) rebuild(c *conn) error {
	if err := truncate(c); err != nil {
		return err
	}
	live, err := liveBytes(c)
	if err != nil {
		return err
	}
	if !rebuilt(live, s.cfg.free(s.home)) {
		return nil
	}
	if err := c.script("VACUUM"); err != nil {
		return err
	}
	return truncate(c)
}

// rebuilt reports whether a database with so many live bytes is written anew on a disk with so many free ones, of which a
// negative number is not known. The copy goes through the log: for a moment it is on disk twice.
func rebuilt(live, free int64) bool {
	return live <= maxRebuilt && (free < 0 || free >= reserve+2*live)
}

// liveBytes is the size of the pages in use.
func liveBytes(c *conn) (int64, error) {
	var pages, free int64
	for pragma, to := range map[string]*int64{"PRAGMA page_count": &pages, "PRAGMA freelist_count": &free} {
		if _, err := c.one(pragma, nil, func(v []driver.Value) error {
			*to = number(v[0])
			return nil
		}); err != nil {
			return 0, err
		}
	}
	const page = 4096
	return (pages - free) * page, nil
}

var errReaders = errors.New("another process reads the home: what was deleted is gone, but may still be in the write-ahead log")

// truncate copies the write-ahead log into the database and empties it. Readers in the way are waited for as long as
// for any lock.
func truncate(c *conn) error {
	busy := int64(0)
	if _, err := c.one("PRAGMA wal_checkpoint(TRUNCATE)", nil, func(v []driver.Value) error {
		busy = number(v[0])
		return nil
	}); err != nil {
		return err
	}
	if busy != 0 {
		return errReaders
	}
	return nil
}

// writeLow is write for what frees space: it may use the last of it.
func (s *Store) writeLow(ctx context.Context, run func(*conn) error) error {
	w, err := s.begin(ctx)
	if err != nil {
		return err
	}
	return w.queue(ctx, &job{run: run, events: sweepRows, low: true, done: make(chan struct{})})
}

// alone runs what cannot be a part of a transaction, while all writers of all processes wait. What it leaves in the log
// it has to make durable itself.
func (w *writer) alone(ctx context.Context, run func(*conn) error) error {
	return w.queue(ctx, &job{run: run, alone: true, done: make(chan struct{})})
}

// runAlone is the writer's part of alone.
func (w *writer) runAlone(j *job) {
	defer close(j.done)
	if j.err = w.ready(); j.err != nil {
		return
	}
	if j.err = w.lock.acquire(); j.err != nil {
		return
	}
	defer w.lock.release()
	w.since, w.restartAt = 0, 0
	if err := j.run(w.conn); err != nil {
		j.err = w.failed("rebuild", err)
		if p := w.conn.engine.primary(err); p == codeCorrupt || p == codeIOErr {
			j.err = w.store.poisonWith(j.err) // As after a checkpoint that failed.
		}
	}
}
