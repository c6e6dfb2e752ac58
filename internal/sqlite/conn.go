package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
)

// conn is one connection with its prepared statements. It speaks to the driver directly: database/sql costs more
// than the statements of an append do. One goroutine at a time may use it.
type conn struct {
	engine *engine
	raw    driver.Conn
	stmts  map[string]driver.Stmt // at most maxStmts
	args   []driver.NamedValue
	empty  bool // stands for a home that is not there

	changed acknowledged // by the transaction under way, last
}

// maxStmts is more than there are constant queries; listings with unusual filters go beyond it.
const maxStmts = 128

func newConn(e *engine, raw driver.Conn) *conn {
	return &conn{engine: e, raw: raw, stmts: map[string]driver.Stmt{}}
}

// script runs statements without arguments, once.
func (c *conn) script(text string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return err
}

// exec runs one prepared statement and returns how many rows it changed. A context is not passed down: what bounds a
// statement is its work, and an interrupted write would fail its whole group.
func (c *conn) exec(query string, args ...any) (int64, error) {
	stmt, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	r, err := stmt.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query hands every row to row until it returns an error, which query then returns. The values are row's to keep.
func (c *conn) query(query string, args []any, row func([]driver.Value) error) error {
	return c.queryUntil(context.Background(), query, args, row)
}

// queryUntil is query for what may take long and only reads: it ends with ctx.
func (c *conn) queryUntil(ctx context.Context, query string, args []any, row func([]driver.Value) error) (err error) {
	stmt, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, c.bind(args))
	if err != nil {
		return err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if c.engine.aliased {
			for i, v := range values {
				if b, ok := v.([]byte); ok {
					values[i] = slices.Clone(b)
				}
			}
		}
		if err := row(values); err != nil {
			return err
		}
	}
}

// one runs a query of at most one row and reports whether there was one.
func (c *conn) one(query string, args []any, row func([]driver.Value) error) (bool, error) {
	found := false
	err := c.query(query, args, func(v []driver.Value) error {
		found = true
		if row == nil {
			return nil
		}
		return row(v)
	})
	return found, err
}

// touch makes sure that the connection has the file in use.
func (c *conn) touch() error {
	_, err := c.one("SELECT 1 FROM session LIMIT 1", nil, nil)
	return err
}

func (c *conn) prepare(query string) (driver.Stmt, error) {
	if stmt := c.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.raw.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	if len(c.stmts) >= maxStmts {
		for q, old := range c.stmts {
			delete(c.stmts, q)
			if err := old.Close(); err != nil {
				return nil, errors.Join(err, stmt.Close())
			}
		}
	}
	c.stmts[query] = stmt
	return stmt, nil
}

func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		if n, ok := a.(int); ok {
			a = int64(n)
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// pool lends out reading connections, opened when first needed.
type pool struct {
	open  func() (*conn, error)
	stale func(*conn) bool // tells that a connection is to be opened anew
	idle  chan *conn       // nil: a place whose connection is not open yet
}

func newPool(size int, open func() (*conn, error)) *pool {
	p := &pool{open: open, idle: make(chan *conn, size)}
	for range size {
		p.idle <- nil
	}
	return p
}

func (p *pool) get(ctx context.Context) (*conn, error) {
	select {
	case c := <-p.idle:
		if c != nil && (p.stale == nil || !p.stale(c)) {
			return c, nil
		}
		if c != nil {
			_ = c.close() // It was only read.
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := p.open()
	if err != nil {
		p.idle <- nil
	}
	return c, err
}

func (p *pool) put(c *conn) { p.idle <- c }

// drain waits for the connections that are lent out and takes them all, but for stale ones; nobody gets one any more.
func (p *pool) drain() []*conn {
	var open []*conn
	for range cap(p.idle) {
		switch c := <-p.idle; {
		case c == nil:
		case p.stale != nil && p.stale(c):
			_ = c.close() // It was only read.
		default:
			open = append(open, c)
		}
	}
	return open
}

func closeAll(conns []*conn) error {
	var errs []error
	for _, c := range conns {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}
