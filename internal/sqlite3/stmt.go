package sqlite3

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Stmt is a compiled statement. One run of it must be over before the next begins.
type Stmt struct {
	conn    *Conn
	handle  uintptr
	inputs  int
	columns int

	arena uintptr // memory outside the garbage collector, for texts and blobs of the run under way
	room  int     // its size
}

// Bounds of the arena in bytes: it begins with, and what is larger after a run is given back.
const (
	firstRoom = 1 << 10
	keptRoom  = 1 << 20
)

// Close frees the statement.
func (s *Stmt) Close() error {
	lib.Xsqlite3_finalize(s.conn.tls, s.handle) // once: then there is no handle; its result repeats the newest run's
	s.handle = 0
	s.release(0)
	return nil
}

// NumInput is the number of parameters.
func (s *Stmt) NumInput() int { return s.inputs }

// Exec is not there: use [Stmt.ExecContext].
func (s *Stmt) Exec([]driver.Value) (driver.Result, error) {
	return nil, errors.New("sqlite3: use ExecContext")
}

// Query is not there: use [Stmt.QueryContext].
func (s *Stmt) Query([]driver.Value) (driver.Rows, error) {
	return nil, errors.New("sqlite3: use QueryContext")
}

// ExecContext runs the statement to its end and tells how many rows it changed. Its context is not heard: what is half
// done of a write would have to be undone.
func (s *Stmt) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.bind(args); err != nil {
		return nil, err
	}
	rc := lib.Xsqlite3_step(s.conn.tls, s.handle)
	for rc == lib.SQLITE_ROW {
		rc = lib.Xsqlite3_step(s.conn.tls, s.handle)
	}
	var err error
	if rc != lib.SQLITE_DONE {
		err = s.conn.fault(rc)
	}
	changed := lib.Xsqlite3_changes64(s.conn.tls, s.conn.db)
	s.over()
	return driver.RowsAffected(changed), err
}

// QueryContext begins a run that gives rows. It ends with an error when ctx ends.
func (s *Stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.bind(args); err != nil {
		return nil, err
	}
	r := &Rows{stmt: s, ctx: ctx}
	if ctx.Done() != nil {
		r.over, r.watched = make(chan struct{}), make(chan struct{})
		r.unwatch = context.AfterFunc(ctx, func() { r.interrupt(s.conn.db) })
	}
	return r, nil
}

// over makes the statement ready for its next run.
func (s *Stmt) over() {
	lib.Xsqlite3_reset(s.conn.tls, s.handle) // its result repeats the run's
	lib.Xsqlite3_clear_bindings(s.conn.tls, s.handle)
	s.release(keptRoom)
}

// release gives the arena back if it is larger than keep.
func (s *Stmt) release(keep int) {
	if s.room > keep {
		libc.Xfree(s.conn.tls, s.arena)
		s.arena, s.room = 0, 0
	}
}

// bind gives the parameters their values.
func (s *Stmt) bind(args []driver.NamedValue) error {
	if len(args) != s.inputs {
		return fmt.Errorf("sqlite3: %d values for %d parameters", len(args), s.inputs)
	}
	need := 0
	for _, a := range args {
		switch v := a.Value.(type) {
		case string:
			need += len(v)
		case []byte:
			need += len(v)
		}
	}
	if err := s.reserve(need); err != nil {
		return err
	}
	at := s.arena
	for i, a := range args {
		if rc := s.bindOne(int32(i+1), a.Value, &at); rc != lib.SQLITE_OK {
			err := s.conn.fault(rc)
			s.over()
			return err
		}
	}
	return nil
}

// reserve makes the arena at least n bytes large. What it held is lost.
func (s *Stmt) reserve(n int) error {
	room := max(n, firstRoom)
	if room <= s.room {
		return nil
	}
	s.release(0)
	if s.arena = libc.Xmalloc(s.conn.tls, libc.Tsize_t(room)); s.arena == 0 {
		return &Error{Code: lib.SQLITE_NOMEM, Text: fmt.Sprintf("no memory for %d bytes of values", n)}
	}
	s.room = room
	return nil
}

// bindOne gives one parameter its value; texts and blobs are put into the arena, and stay there until the run is over.
func (s *Stmt) bindOne(i int32, value any, at *uintptr) int32 {
	tls := s.conn.tls
	switch v := value.(type) {
	case nil:
		return lib.Xsqlite3_bind_null(tls, s.handle, i)
	case int64:
		return lib.Xsqlite3_bind_int64(tls, s.handle, i, v)
	case float64:
		return lib.Xsqlite3_bind_double(tls, s.handle, i, v)
	case string:
		p := *at
		*at += uintptr(copy(libc.GoBytes(p, len(v)), v))
		return lib.Xsqlite3_bind_text64(tls, s.handle, i, p, lib.Tsqlite3_uint64(len(v)), 0, lib.SQLITE_UTF8)
	case []byte:
		p := *at
		*at += uintptr(copy(libc.GoBytes(p, len(v)), v))
		return lib.Xsqlite3_bind_blob64(tls, s.handle, i, p, lib.Tsqlite3_uint64(len(v)), 0)
	}
	return lib.SQLITE_MISMATCH
}

// Rows are the rows of a run.
type Rows struct {
	stmt    *Stmt
	ctx     context.Context
	unwatch func() bool   // nil: ctx has no end
	over    chan struct{} // closed when the run is over
	watched chan struct{} // closed when it is not interrupted any more
}

// interruptPause is how far apart interruptions are.
const interruptPause = 10 * time.Millisecond

// interrupt passes on that the context has ended. SQLite forgets what comes just before the first step of a run, so it is
// told again until the run is over.
func (r *Rows) interrupt(db uintptr) {
	defer close(r.watched)
	for {
		lib.Xsqlite3_interrupt(nil, db)
		select {
		case <-r.over:
			return
		case <-time.After(interruptPause):
		}
	}
}

// Columns has an empty name for each column: nobody here goes by names.
func (r *Rows) Columns() []string { return make([]string, r.stmt.columns) }

// Close ends the run.
func (r *Rows) Close() error {
	if r.stmt == nil {
		return nil
	}
	if r.unwatch != nil {
		close(r.over)
		if !r.unwatch() {
			<-r.watched // so that it stops no later run
		}
	}
	r.stmt.over()
	r.stmt = nil
	return nil
}

// Next reads the next row; io.EOF tells that there is none.
func (r *Rows) Next(out []driver.Value) error {
	s := r.stmt
	if err := r.ctx.Err(); err != nil {
		return err
	}
	switch rc := lib.Xsqlite3_step(s.conn.tls, s.handle); rc {
	case lib.SQLITE_ROW:
	case lib.SQLITE_DONE:
		return io.EOF
	default:
		err := s.conn.fault(rc)
		if ended := r.ctx.Err(); ended != nil {
			return ended
		}
		return err
	}
	for i := range out {
		out[i] = s.column(int32(i))
	}
	return nil
}

// column copies a value of the current row.
func (s *Stmt) column(i int32) driver.Value {
	tls := s.conn.tls
	switch lib.Xsqlite3_column_type(tls, s.handle, i) {
	case lib.SQLITE_INTEGER:
		return lib.Xsqlite3_column_int64(tls, s.handle, i)
	case lib.SQLITE_FLOAT:
		return lib.Xsqlite3_column_double(tls, s.handle, i)
	case lib.SQLITE_TEXT:
		p := lib.Xsqlite3_column_text(tls, s.handle, i)
		return string(libc.GoBytes(p, int(lib.Xsqlite3_column_bytes(tls, s.handle, i))))
	case lib.SQLITE_BLOB:
		p := lib.Xsqlite3_column_blob(tls, s.handle, i)
		b := make([]byte, lib.Xsqlite3_column_bytes(tls, s.handle, i))
		copy(b, libc.GoBytes(p, len(b)))
		return b
	}
	return nil
}
