package sqlite3

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Conn is a connection to a database.
type Conn struct {
	tls *libc.TLS
	db  uintptr
	out uintptr // outSize bytes, on the connection's stack for as long as it is open
}

// outSize is enough for two addresses that a call gives, or for two arguments of one.
const outSize = 16

// Open opens a database by its URI: file:PATH, with mode=ro, immutable=1 and so on, see https://sqlite.org/uri.html. It
// is made if it is not there, unless the URI forbids it. Errors are of type [Error].
func Open(uri string) (*Conn, error) {
	name, err := libc.CString(uri)
	if err != nil {
		return nil, err
	}
	c := &Conn{tls: libc.NewTLS()}
	defer libc.Xfree(c.tls, name)
	c.out = c.tls.Alloc(outSize)
	const flags = lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_CREATE | lib.SQLITE_OPEN_NOMUTEX | lib.SQLITE_OPEN_URI
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.out, flags, 0)
	c.db = pointerAt(c.out)
	if rc == lib.SQLITE_OK {
		lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
		c.keepPlans()
		return c, nil
	}
	return nil, errors.Join(c.fault(rc), c.Close())
}

// keepPlans asks for a statement's plan to be the same whatever its parameters are. Without it SQLite compiles many
// statements anew each time that a parameter is bound; see https://sqlite.org/queryplanner-ng.html, section 4.
func (c *Conn) keepPlans() {
	on := libc.VaList(c.out, int32(1), uintptr(0))
	lib.Xsqlite3_db_config(c.tls, c.db, lib.SQLITE_DBCONFIG_ENABLE_QPSG, on)
}

// pointerSize is the size of an address in bytes.
const pointerSize = int(unsafe.Sizeof(uintptr(0)))

// pointerAt reads an address from memory outside the garbage collector.
func pointerAt(p uintptr) (at uintptr) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&at)), pointerSize), libc.GoBytes(p, pointerSize))
	return at
}

// Close closes the connection. Its statements must be closed before.
func (c *Conn) Close() error {
	if c.tls == nil {
		return nil
	}
	rc := lib.Xsqlite3_close_v2(c.tls, c.db)
	c.tls.Close()
	c.tls = nil
	if rc != lib.SQLITE_OK {
		return &Error{Code: int(rc), Text: "close"}
	}
	return nil
}

// Begin is not there: transactions are statements.
func (c *Conn) Begin() (driver.Tx, error) {
	return nil, errors.New("sqlite3: begin a transaction by a statement")
}

// Prepare is [Conn.PrepareContext] without a context.
func (c *Conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext compiles one statement, to be used often. Its parameters are given by position.
func (c *Conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	text, err := libc.CString(query)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	s, _, err := c.compile(text)
	if err == nil && s == nil {
		err = fmt.Errorf("sqlite3: no statement: %q", query)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ExecContext runs all statements of a script, none of which has parameters. Rows are read and dropped.
func (c *Conn) ExecContext(_ context.Context, script string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) > 0 {
		return nil, errors.New("sqlite3: a script has no parameters")
	}
	text, err := libc.CString(script)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(c.tls, text)
	for at := text; libc.GoBytes(at, 1)[0] != 0; {
		s, next, err := c.compile(at)
		if err != nil {
			return nil, err
		}
		at = next
		if s == nil {
			continue // blanks, or a comment
		}
		_, err = s.ExecContext(context.Background(), nil)
		if err = errors.Join(err, s.Close()); err != nil {
			return nil, err
		}
	}
	return driver.RowsAffected(lib.Xsqlite3_changes64(c.tls, c.db)), nil
}

// compile compiles the first statement of a text, nil if there is none, and tells where the next one begins.
func (c *Conn) compile(text uintptr) (*Stmt, uintptr, error) {
	next := c.out + uintptr(pointerSize)
	rc := lib.Xsqlite3_prepare_v3(c.tls, c.db, text, -1, lib.SQLITE_PREPARE_PERSISTENT, c.out, next)
	handle, rest := pointerAt(c.out), pointerAt(next)
	switch {
	case rc != lib.SQLITE_OK:
		return nil, rest, c.fault(rc)
	case handle == 0:
		return nil, rest, nil
	}
	return &Stmt{
		conn: c, handle: handle,
		inputs:  int(lib.Xsqlite3_bind_parameter_count(c.tls, handle)),
		columns: int(lib.Xsqlite3_column_count(c.tls, handle)),
	}, rest, nil
}

// Error is what SQLite says of a call that failed.
type Error struct {
	Code int    // the extended result code, see https://sqlite.org/rescode.html
	Text string // for people
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Text, e.Code) }

// fault is the error of a result code that the newest call on this connection gave.
func (c *Conn) fault(rc int32) error {
	text := lib.Xsqlite3_errstr(c.tls, rc)
	if lib.Xsqlite3_extended_errcode(c.tls, c.db) == rc {
		text = lib.Xsqlite3_errmsg(c.tls, c.db)
	}
	return &Error{Code: int(rc), Text: libc.GoString(text)}
}
