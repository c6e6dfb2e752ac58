package sqlite3_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"modernc.org/libc"

	"github.com/perdure/perdure/internal/sqlite3"
)

// endless claims to be a text that is longer than any memory. Nobody may read it.
func endless() string {
	b := byte('x')
	header := struct {
		at *byte
		n  int
	}{&b, int(^uint(0) >> 2)}
	return *(*string)(unsafe.Pointer(&header))
}

// A value, a query, a script or a name for which there is no memory is refused, and the statement can be used again.
func TestNoMemory(t *testing.T) {
	c := open(t)
	length := prepare(t, c, "SELECT length(?)")
	for range 2 {
		_, err := length.ExecContext(t.Context(), named(endless()))
		var e *sqlite3.Error
		if !errors.As(err, &e) || e.Code != 7 || !strings.Contains(e.Text, "no memory for") { // SQLITE_NOMEM
			t.Errorf("a value: %v", err)
		}
		for _, text := range []string{"", "four"} {
			if got := every(t, length, text); got[0][0] != int64(len(text)) {
				t.Errorf("after it: %q has %v characters", text, got)
			}
		}
	}
	for name, do := range map[string]func() error{
		"name":   func() error { _, err := sqlite3.Open(endless()); return err },
		"query":  func() error { _, err := c.Prepare(endless()); return err },
		"script": func() error { _, err := c.ExecContext(t.Context(), endless(), nil); return err },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "cannot allocate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// visit uses a database in every way, the wrong ones included, and closes it.
func visit(t *testing.T, path string) {
	if _, err := sqlite3.Open("file:/nowhere/at/all.db"); err == nil {
		t.Error("it opens nothing")
	}
	_, _ = sqlite3.Open(endless())
	c, err := sqlite3.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{
		"CREATE TABLE IF NOT EXISTS t(a PRIMARY KEY); DELETE FROM t; INSERT INTO t VALUES('x')",
		"SELECT 1; INSERT INTO t VALUES('x'); SELECT 2", "SELECT 1; SELEC 2", endless(),
	} {
		if _, err := c.ExecContext(t.Context(), text, nil); (err != nil) != (i > 0) {
			t.Errorf("script %d: %v", i, err)
		}
	}
	for _, query := range []string{"SELECT * FROM nowhere", " -- nothing", endless()} {
		if _, err := c.Prepare(query); err == nil {
			t.Error("it is prepared")
		}
	}
	s, err := c.Prepare("SELECT ?, ?")
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 1<<21)
	for _, values := range [][]driver.NamedValue{named("x", "y"), named(large, struct{}{}), named(large, "x"), named(endless(), 1), named("x", nil)} {
		_, _ = s.(driver.StmtExecContext).ExecContext(t.Context(), values)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, named("x", "y"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := errors.Join(rows.Close(), s.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

// Whatever was done with a database, no memory outside the garbage collector stays when it is closed.
func TestMemoryIsGivenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	visit(t, path) // what the library keeps for good
	before := libc.MemStat()
	for range 3 {
		visit(t, path)
	}
	if after := libc.MemStat(); after.Allocs != before.Allocs || after.Bytes != before.Bytes {
		t.Errorf("before: %+v, after three visits: %+v", before, after)
	}
}

// A statement that waits for its next run keeps at most a megabyte.
func TestStatementsKeepLittle(t *testing.T) {
	c := open(t)
	length := prepare(t, c, "SELECT length(?)")
	every(t, length, "x")
	before := libc.MemStat().Bytes
	large := strings.Repeat("x", 3<<19)
	for range 2 {
		if got := every(t, length, large); got[0][0] != int64(len(large)) {
			t.Errorf("%v characters", got)
		}
		if kept := libc.MemStat().Bytes - before; kept > 1<<20 {
			t.Errorf("it keeps %d bytes", kept)
		}
	}
}

// Who closes twice does no harm, to the statement that has the memory of the first one either.
func TestClosedTwice(t *testing.T) {
	c := open(t)
	first, err := c.Prepare("SELECT 1")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	second := prepare(t, c, "SELECT 2")
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	rows, err := second.QueryContext(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rows.Close(), rows.Close()); err != nil {
		t.Error(err)
	}
	if got := every(t, second); got[0][0] != int64(2) {
		t.Errorf("the second statement gives %v", got)
	}
	if err := errors.Join(second.Close(), c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}
