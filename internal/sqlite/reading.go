package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/perdure/perdure/store"

	"github.com/perdure/perdure/internal/sys"
)

// openReading opens a connection that reads. Where there is no database, it is an empty one in memory.
//
// SQLite shares an index of the write-ahead log between processes in a file beside it, and makes that file when it is
// not there. Where that cannot be done, because the disk is full or read-only, nobody can be writing either: without a
// log the database is read as it lies, with one a copy of both is.
func (s *Store) openReading() (*conn, error) {
	if !s.cfg.engine.exists(s.path) {
		return openEmpty(s.cfg)
	}
	c, err := s.openShared()
	if err == nil {
		return c.orEmpty(s.cfg)
	}
	if place := s.cfg.engine.place; place != nil {
		if cause := place(s.home); cause != nil {
			return nil, cause
		}
	}
	err = s.cfg.engine.explain(err)
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return nil, err
	}
	if code, _ := s.cfg.engine.code(err); code == codeHotJournal {
		return nil, err
	}
	switch s.cfg.engine.primary(err) {
	case codeCantOpen, codeReadOnly, codeIOErr, codeFull:
	case codeCorrupt:
		if c, e := openDamaged(s.cfg, s.path); e == nil {
			return c, nil
		}
		return nil, fmt.Errorf("%w: %w", store.ErrUnreadable, err)
	case codeNotADB:
		return nil, fmt.Errorf("%w: %w", store.ErrUnreadable, err)
	default:
		return nil, err
	}
	if info, e := os.Stat(s.path + "-wal"); e == nil && info.Size() > 0 {
		path, e := s.copied.of(s.path)
		if e != nil {
			return nil, errors.Join(err, e)
		}
		return openTouched(s.cfg, path, readWrite)
	}
	if c, e := openTouched(s.cfg, s.path, frozen); e == nil {
		return c, nil
	}
	return nil, err
}

// unreadable looks why a home cannot be opened, where the files themselves say it: SQLite only tells that it could not.
// Nil means that each of them can be read.
func unreadable(home string) error {
	info, err := os.Stat(home)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%w: it is a file, not a directory", store.ErrUnreadable)
	}
	for _, name := range []string{databaseName, databaseName + "-wal"} {
		f, err := os.Open(filepath.Join(home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		switch err = errors.Join(err, f.Close()); {
		case err != nil:
			return err
		case info.IsDir():
			return fmt.Errorf("%w: %s is a directory, not a file", store.ErrUnreadable, name)
		}
	}
	return nil
}

// orEmpty is the connection, or that of an empty home while whoever makes the database has not made its tables yet.
func (c *conn) orEmpty(cfg Config) (*conn, error) {
	tables := int64(0)
	_, err := c.one("SELECT count(*) FROM sqlite_schema", nil, func(v []driver.Value) error {
		tables = number(v[0])
		return nil
	})
	switch {
	case err != nil:
		return nil, errors.Join(err, c.close())
	case tables > 0:
		return c, nil
	}
	if err := c.close(); err != nil {
		return nil, err
	}
	return openEmpty(cfg)
}

// openShared opens the database beside processes that may write it.
func (s *Store) openShared() (*conn, error) {
	defer s.enterDoor()()
	c, err := openTouched(s.cfg, s.path, readOnly)
	for range recoverTries {
		if code, _ := s.cfg.engine.code(err); err == nil || code != codeBusyRecovery {
			break
		}
		time.Sleep(recoverPause) //nolint:forbidigo // there is nothing to wait for
		c, err = openTouched(s.cfg, s.path, readOnly)
	}
	return c, err
}

// openTouched opens a connection that has read once, so that all of its files are in use.
func openTouched(cfg Config, path string, how access) (*conn, error) {
	c, err := openConn(cfg, path, how)
	if err != nil {
		return nil, err
	}
	if _, err := c.one("SELECT count(*) FROM sqlite_schema", nil, nil); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// openDamaged opens a database that was cut short, which SQLite refuses as a whole otherwise: what is left of it can be
// read, and what is not is told by whatever needs it. Nothing is ever written that way.
func openDamaged(cfg Config, path string) (*conn, error) {
	raw, err := cfg.engine.connect(path, readOnly)
	if err != nil {
		return nil, err
	}
	c := newConn(cfg.engine, raw)
	err = c.script("PRAGMA writable_schema = ON;\n" + pragmas(cfg, readOnly))
	if err == nil {
		_, err = c.one("SELECT count(*) FROM session", nil, nil)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// openEmpty gives what an empty home would: there are no sessions in it.
func openEmpty(cfg Config) (*conn, error) {
	raw, err := cfg.engine.connect(":memory:", readWrite)
	if err != nil {
		return nil, err
	}
	c := newConn(cfg.engine, raw)
	c.empty = true
	if err := errors.Join(checkVersion(c), migrateFrom(c, 0)); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// enterDoor keeps the database's files in their place while a connection is opened; see [writeLock.enter]. Without a
// door nobody has written yet.
func (s *Store) enterDoor() func() {
	door, err := openOwn(filepath.Join(s.home, doorName), os.O_RDONLY)
	if err != nil {
		return func() {}
	}
	waitAt(door, sys.Shared)
	return func() { _ = door.Close() }
}

// copyOf is a copy of a database and its write-ahead log in a directory of its own, made once.
type copyOf struct {
	mu  sync.Mutex
	dir string
}

func (c *copyOf) of(path string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "perdure-read-")
		if err != nil {
			return "", err
		}
		for _, name := range []string{path, path + "-wal"} {
			if err := copyFile(name, filepath.Join(dir, filepath.Base(name))); err != nil {
				return "", errors.Join(fmt.Errorf("copy the home to read it: %w", err), os.RemoveAll(dir))
			}
		}
		c.dir = dir
	}
	return filepath.Join(c.dir, filepath.Base(path)), nil
}

func (c *copyOf) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		return nil
	}
	return os.RemoveAll(c.dir)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // It was only read.
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
