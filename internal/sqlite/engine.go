package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/perdure/perdure/internal/sqlite3"
	"github.com/perdure/perdure/store"
)

// engine is the SQLite library behind the store. Tests put one in whose disk is simulated.
type engine struct {
	connect func(path string, how access) (driver.Conn, error)
	exists  func(path string) bool                              // a database is there
	place   func(home string) error                             // why a home cannot be read; nil: not known
	code    func(error) (int, bool)                             // extended result code of an error of this library
	openLog func(path string) (logFile, error)                  // opens the write-ahead log, which is there
	create  func(path string, syncDir func(string) error) error // makes an empty file that only its owner may read
	aliased bool                                                // blobs of a row are only valid until the next row
}

// access is what a connection may do.
type access int

const (
	readWrite access = iota
	readOnly
	frozen // read what nobody writes, without its log
)

// logFile is the write-ahead log as a file of the process's own, to be synced.
type logFile interface {
	Sync() error
	Close() error
}

func native() *engine {
	return &engine{
		connect: func(path string, how access) (driver.Conn, error) {
			name := "file:" + (&url.URL{Path: path}).EscapedPath()
			switch how {
			case readOnly:
				name += "?mode=ro"
			case frozen:
				name += "?mode=ro&immutable=1"
			}
			return sqlite3.Open(name)
		},
		exists: func(path string) bool {
			_, err := os.Stat(path)
			return !errors.Is(err, fs.ErrNotExist)
		},
		place: unreadable,
		code: func(err error) (int, bool) {
			var e *sqlite3.Error
			if !errors.As(err, &e) {
				return 0, false
			}
			return e.Code, true
		},
		openLog: func(path string) (logFile, error) { return openSynced(path) },
		create:  createFile,
	}
}

// Result codes of SQLite that decide what happens next.
const (
	codeError        = 1
	codeBusy         = 5
	codeLocked       = 6
	codeNoMem        = 7
	codeReadOnly     = 8
	codeIOErr        = 10
	codeCorrupt      = 11
	codeFull         = 13
	codeCantOpen     = 14
	codeProtocol     = 15
	codeNotADB       = 26
	codeBusyRecovery = codeBusy | 1<<8
	codeIOErrFsync   = codeIOErr | 4<<8
	codeIOErrDirSync = codeIOErr | 5<<8
	codeIOErrShmSize = codeIOErr | 19<<8   // the file of the shared index cannot grow
	codeHotJournal   = codeReadOnly | 3<<8 // who may write has to undo a transaction first
)

// primary gives the primary result code of err, 0 if it is none of SQLite's.
func (e *engine) primary(err error) int {
	code, _ := e.code(err)
	return code & 0xff
}

// syncFailed reports whether err says that a sync failed: from then on nobody knows what the disk holds.
func (e *engine) syncFailed(err error) bool {
	code, _ := e.code(err)
	return code == codeIOErrFsync || code == codeIOErrDirSync
}

// sessionFault reports whether err may concern one statement's rows only, so that others of its group can be tried
// alone.
func (e *engine) sessionFault(err error) bool {
	switch e.primary(err) {
	case codeFull, codeIOErr, codeNoMem, codeBusy, codeLocked, codeReadOnly, codeCantOpen, codeProtocol:
		return false
	}
	return true
}

// explain adds what the caller can do about an error.
func (e *engine) explain(err error) error {
	if code, _ := e.code(err); code == codeIOErrShmSize {
		return fullDisk(err)
	}
	switch e.primary(err) {
	case codeFull:
		return fullDisk(err)
	case codeBusy, codeLocked:
		return fmt.Errorf("another program keeps the database locked; end it and try again: %w", err)
	case codeReadOnly:
		return fmt.Errorf("the home is read-only; make it writable: %w", err)
	case codeCantOpen:
		if f, e := os.Open(os.DevNull); e != nil {
			return fmt.Errorf("%w: %w", e, err)
		} else if e = f.Close(); e != nil {
			return e
		}
	case codeNotADB, codeCorrupt:
		return fmt.Errorf("%w: the file is damaged or not a database; restore a copy: %w", store.ErrDamaged, err)
	}
	return err
}

// told explains what a read met of a damaged file, once. Of queries that are constant, a table or column that is not known
// says that the page is damaged on which the tables are described.
func (e *engine) told(err error) error {
	if errors.Is(err, store.ErrDamaged) {
		return err
	}
	switch e.primary(err) {
	case codeCorrupt, codeNotADB:
		return e.explain(err)
	case codeError:
		return fmt.Errorf("%w: the tables are not as they were made; restore a copy: %w", store.ErrDamaged, err)
	}
	return err
}

// fullDisk says that a write did not happen for want of space.
func fullDisk(err error) error { return fmt.Errorf("%w: %w", store.ErrFull, err) }
