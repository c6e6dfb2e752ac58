package sqlite

import (
	"context"
	"database/sql/driver"
	"sync"

	"github.com/perdure/perdure/internal/sqlite3"
)

// failing makes one statement of an engine fail, wherever it is run.
type failing struct {
	mu   sync.Mutex
	left int    // steps of statements until one fails; 0: none does
	hit  string // the statement that failed
	how  access // of its connection
}

// errPlanted is what it fails with: want of memory, after which all goes on.
var errPlanted = planted(codeNoMem)

// engine is the real one with the statement that fails.
func (f *failing) engine() *engine {
	e := *native()
	connect := e.connect
	e.connect = func(path string, how access) (driver.Conn, error) {
		if err := f.step("connect", how); err != nil {
			return nil, err
		}
		c, err := connect(path, how)
		if err != nil {
			return nil, err
		}
		return &failingConn{c.(*sqlite3.Conn), f, how}, nil
	}
	return &e
}

// plant lets the nth step from now on fail, or none.
func (f *failing) plant(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left = n; n > 0 {
		f.hit = ""
	}
}

// found ends that, and names the statement that failed; "" if none was reached.
func (f *failing) found() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = 0
	return f.hit
}

func (f *failing) step(statement string, how access) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return nil
	}
	if f.left--; f.left > 0 {
		return nil
	}
	f.hit, f.how = statement, how
	return errPlanted
}

type failingConn struct {
	*sqlite3.Conn
	f   *failing
	how access
}

func (c *failingConn) ExecContext(ctx context.Context, script string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.f.step(script, c.how); err != nil {
		return nil, err
	}
	return c.Conn.ExecContext(ctx, script, args)
}

func (c *failingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &failingStmt{s.(*sqlite3.Stmt), c, query}, nil
}

type failingStmt struct {
	*sqlite3.Stmt
	c     *failingConn
	query string
}

func (s *failingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.c.f.step(s.query, s.c.how); err != nil {
		return nil, err
	}
	return s.Stmt.ExecContext(ctx, args)
}

func (s *failingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.c.f.step(s.query, s.c.how); err != nil {
		return nil, err
	}
	rows, err := s.Stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return &failingRows{rows, s}, nil
}

type failingRows struct {
	driver.Rows
	s *failingStmt
}

func (r *failingRows) Next(out []driver.Value) error {
	if err := r.s.c.f.step(r.s.query, r.s.c.how); err != nil {
		return err
	}
	return r.Rows.Next(out)
}

func planted(code int) *sqlite3.Error { return &sqlite3.Error{Code: code, Text: "a planted fault"} }
