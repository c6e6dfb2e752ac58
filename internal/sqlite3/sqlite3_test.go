package sqlite3_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/sqlite3"
)

func open(t *testing.T) *sqlite3.Conn {
	t.Helper()
	c, err := sqlite3.Open("file:" + filepath.Join(t.TempDir(), "d b.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func script(t *testing.T, c *sqlite3.Conn, text string) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), text, nil); err != nil {
		t.Fatal(err)
	}
}

func prepare(t *testing.T, c *sqlite3.Conn, query string) *sqlite3.Stmt {
	t.Helper()
	s, err := c.PrepareContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*sqlite3.Stmt)
}

func named(values ...any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(values))
	for i, v := range values {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// every reads all rows of a query.
func every(t *testing.T, s *sqlite3.Stmt, args ...any) [][]driver.Value {
	t.Helper()
	rows, err := s.QueryContext(t.Context(), named(args...))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out [][]driver.Value
	for {
		row := make([]driver.Value, len(rows.Columns()))
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
}

// What goes in comes out, whatever its bytes and size, and what came out stays when the next row is read.
func TestValues(t *testing.T) {
	c := open(t)
	script(t, c, "CREATE TABLE t(a, b, c); -- a comment\n ; CREATE INDEX i ON t(a);")
	big := bytes.Repeat([]byte("\x00perdure\xff"), 300_000)
	in := [][]any{
		{int64(math.MinInt64), int64(math.MaxInt64), 1.5},
		{"", "a\x00b \u2603 '", strings.Repeat("x", 100_000)},
		{[]byte{}, []byte{0, 255}, nil},
		{big, string(bytes.Repeat([]byte("é"), 70_000)), big[:1]},
		{int64(0), "after a large one", []byte("z")},
	}
	insert := prepare(t, c, "INSERT INTO t VALUES(?, ?, ?)")
	for _, row := range in {
		r, err := insert.ExecContext(t.Context(), named(row...))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := r.RowsAffected(); n != 1 || err != nil {
			t.Errorf("%d rows changed, %v", n, err)
		}
	}
	read := prepare(t, c, "SELECT a, b, c FROM t ORDER BY rowid")
	for range 2 {
		got := every(t, read)
		if len(got) != len(in) {
			t.Fatalf("%d rows", len(got))
		}
		for i := range in {
			for j := range in[i] {
				if !reflect.DeepEqual(got[i][j], in[i][j]) {
					t.Errorf("row %d, column %d: %T of %d bytes", i, j, got[i][j], len(in[i]))
				}
			}
		}
	}
	if got := every(t, prepare(t, c, "SELECT count(*) FROM t WHERE a = ?"), big); got[0][0] != int64(1) {
		t.Errorf("found %v", got)
	}
}

// An error has SQLite's code and words, and the statement can be used again.
func TestErrors(t *testing.T) {
	c := open(t)
	script(t, c, "CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID")
	insert := prepare(t, c, "INSERT INTO t VALUES(?)")
	for _, want := range []int{0, 1555, 1555} { // SQLITE_CONSTRAINT_PRIMARYKEY
		_, err := insert.ExecContext(t.Context(), named(int64(7)))
		var e *sqlite3.Error
		if want == 0 && err == nil {
			continue
		}
		if !errors.As(err, &e) || e.Code != want || !strings.Contains(e.Text, "t.a") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := insert.ExecContext(t.Context(), named(int64(8))); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, do := range map[string]func() error{
		"no such table":       func() error { _, err := c.Prepare("SELECT * FROM nowhere"); return err },
		"no statement":        func() error { _, err := c.Prepare("  -- nothing"); return err },
		"has no parameters":   func() error { _, err := c.ExecContext(t.Context(), "SELECT ?", named("x")); return err },
		"0 values for 1":      func() error { _, err := insert.ExecContext(t.Context(), nil); return err },
		"2 values for 1":      func() error { _, err := insert.QueryContext(t.Context(), named("x", "y")); return err },
		"context canceled":    func() error { _, err := insert.QueryContext(ended, named("x")); return err },
		"unable to open":      func() error { _, err := sqlite3.Open("file:/nowhere/at/all.db"); return err },
		"datatype mismatch":   func() error { _, err := insert.ExecContext(t.Context(), named(struct{}{})); return err },
		"syntax error":        func() error { _, err := c.ExecContext(t.Context(), "SELECT 1; SELEC 2", nil); return err },
		"attempt to write":    func() error { return readOnly(t) },
		"a transaction by a ": func() error { _, err := c.Begin(); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func readOnly(t *testing.T) error {
	path := filepath.Join(t.TempDir(), "r.db")
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		return err
	}
	script(t, c, "CREATE TABLE t(a)")
	if err := c.Close(); err != nil {
		return err
	}
	if c, err = sqlite3.Open("file:" + path + "?mode=ro"); err != nil {
		return err
	}
	_, err = c.ExecContext(t.Context(), "INSERT INTO t VALUES(1)", nil)
	return errors.Join(err, c.Close())
}

// The end of a context ends the run that it was given for, and none after it.
func TestInterrupt(t *testing.T) {
	c := open(t)
	endless := prepare(t, c, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x FROM n WHERE x % ? = 0")
	none := prepare(t, c, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n) SELECT x FROM n WHERE x < ?")
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := endless.QueryContext(ctx, named(int64(100)))
		if err != nil {
			t.Fatal(err)
		}
		row := make([]driver.Value, 1)
		if err := rows.Next(row); err != nil || row[0] != int64(100) {
			t.Fatalf("%v, %v", row, err)
		}
		cancel()
		for err == nil {
			err = rows.Next(row)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		if rows, err = none.QueryContext(ctx, named(int64(0))); err != nil {
			t.Fatal(err)
		}
		over := make(chan error)
		go func() { over <- rows.Next(row) }() // no row ever comes
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if got := every(t, prepare(t, c, "SELECT 1")); len(got) != 1 {
			t.Errorf("the next run gave %v", got)
		}
	}
}

// The end of a context that comes when its run is over stops no later one.
func TestLateInterrupt(t *testing.T) {
	c := open(t)
	first, next := prepare(t, c, "SELECT 1"), prepare(t, c, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n LIMIT 10000) SELECT count(*) FROM n")
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := first.QueryContext(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if got := every(t, next); got[0][0] != int64(10000) {
			t.Errorf("the next run gave %v", got)
		}
	}
}

// A statement's plan does not depend on its values: else SQLite would compile it anew for each of them.
func TestPlansStay(t *testing.T) {
	c := open(t)
	script(t, c, "CREATE TABLE t(a TEXT COLLATE NOCASE); CREATE INDEX i ON t(a)")
	plan := prepare(t, c, "EXPLAIN QUERY PLAN SELECT * FROM t WHERE a LIKE ?")
	whole, prefix := every(t, plan, "%x"), every(t, plan, "x%")
	if !reflect.DeepEqual(whole, prefix) {
		t.Errorf("for one value %v, for another %v", whole, prefix)
	}
}

// Nothing is registered with database/sql: a program may link another driver named sqlite.
func TestNothingIsRegistered(t *testing.T) {
	if got := sql.Drivers(); len(got) != 0 {
		t.Errorf("registered: %q", got)
	}
}
