package search

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/perdure/perdure/internal/sqlite3"
)

// db is a connection with its statements.
type db struct {
	conn  *sqlite3.Conn
	stmts map[string]driver.Stmt
}

// inMemory is the URI of a database without a file.
const inMemory = "file::memory:"

func openDB(uri string) (*db, error) {
	conn, err := sqlite3.Open(uri)
	if err != nil {
		return nil, err
	}
	d := &db{conn: conn, stmts: map[string]driver.Stmt{}}
	// A rollback journal, since nobody reads while somebody writes. What is deleted is overwritten.
	err = d.script(`PRAGMA busy_timeout = 10000; PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;
		PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384; PRAGMA cell_size_check = ON;`)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// fileURI names a file for SQLite.
func fileURI(path, options string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + options
}

func (d *db) close() error {
	var errs []error
	for _, s := range d.stmts {
		errs = append(errs, s.Close())
	}
	d.stmts = nil
	return errors.Join(append(errs, d.conn.Close())...)
}

func (d *db) script(text string) error {
	_, err := d.conn.ExecContext(context.Background(), text, nil)
	return err
}

func (d *db) prepare(query string) (driver.Stmt, error) {
	if s, ok := d.stmts[query]; ok {
		return s, nil
	}
	s, err := d.conn.Prepare(query)
	if err == nil {
		d.stmts[query] = s
	}
	return s, err
}

func values(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		if n, ok := a.(int); ok {
			a = int64(n)
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return out
}

// exec runs a statement that gives no rows.
func (d *db) exec(query string, args ...any) error {
	s, err := d.prepare(query)
	if err != nil {
		return err
	}
	_, err = s.(driver.StmtExecContext).ExecContext(context.Background(), values(args))
	return err
}

// query calls row for each row of a statement.
func (d *db) query(ctx context.Context, query string, args []any, row func(v []driver.Value) error) (err error) {
	s, err := d.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, values(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	v := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := row(v); err != nil {
			return err
		}
	}
}

// number reads one number; 0 if there is no row.
func (d *db) number(query string, args ...any) (int64, error) {
	n := int64(0)
	err := d.query(context.Background(), query, args, func(v []driver.Value) error {
		n = integer(v[0])
		return nil
	})
	return n, err
}

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func text(v driver.Value) string {
	s, _ := v.(string)
	return s
}

// Result codes of SQLite that decide what happens next; see https://sqlite.org/rescode.html.
const (
	codeError    = 1
	codePerm     = 3
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeMismatch = 20
	codeNotADB   = 26
)

func codeOf(err error) int {
	var e *sqlite3.Error
	if !errors.As(err, &e) || ofLibrary(err) {
		return 0
	}
	return e.Code & 0xff
}

// libraryError is an error of the library: whatever it is, the index is not concerned.
type libraryError struct{ error }

func (e *libraryError) Unwrap() error { return e.error }

func ofLibrary(err error) bool {
	var e *libraryError
	return errors.As(err, &e)
}

// damaged tells of an index that is to be made anew. All statements are constant: one that cannot be compiled says that
// the tables are not those of this version.
func damaged(err error) bool {
	switch codeOf(err) {
	case codeError, codeCorrupt, codeNotADB, codeMismatch:
		return true
	}
	return errors.Is(err, errVersion)
}

var errVersion = fmt.Errorf("search index: of another version")
