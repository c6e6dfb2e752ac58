package sqlite3

import (
	"database/sql/driver"
	"strings"
	"testing"
)

// A statement that waits for its next run keeps at most a megabyte for values, and all of the run's until it is over.
func TestStatementsKeepLittle(t *testing.T) {
	c, err := Open("file::memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	stmt, err := c.Prepare("SELECT length(?1), ?2")
	if err != nil {
		t.Fatal(err)
	}
	s := stmt.(*Stmt)
	defer func() { _ = s.Close() }()
	value := func(v, second any) []driver.NamedValue {
		return []driver.NamedValue{{Ordinal: 1, Value: v}, {Ordinal: 2, Value: second}}
	}
	large := strings.Repeat("x", 1<<20+1)
	for range 2 {
		rows, err := s.QueryContext(t.Context(), value(large, nil))
		if err != nil || s.room < len(large) {
			t.Fatalf("%d bytes, %v", s.room, err)
		}
		if err := rows.Close(); err != nil || s.room > 1<<20 {
			t.Errorf("after a query it keeps %d bytes, %v", s.room, err)
		}
		if _, err := s.ExecContext(t.Context(), value(large, nil)); err != nil || s.room > 1<<20 {
			t.Errorf("after a run it keeps %d bytes, %v", s.room, err)
		}
		if _, err := s.ExecContext(t.Context(), value(large, struct{}{})); err == nil || s.room > 1<<20 {
			t.Errorf("after values that cannot be used it keeps %d bytes, %v", s.room, err)
		}
	}
}
