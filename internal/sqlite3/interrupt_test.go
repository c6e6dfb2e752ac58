package sqlite3

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"
)

// asked is a context that tells when it is asked whether it has ended; the answer is from before that.
type asked struct {
	context.Context
	tell func()
}

func (a *asked) Err() error {
	err := a.Context.Err()
	if a.tell != nil {
		a.tell()
	}
	return err
}

// counting gives so many rows, and then counts for a second or so without another one.
const counting = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n LIMIT 3000000) SELECT x FROM n WHERE x <= ?`

// A context that ends in the middle of a step ends the run, also if that is just after the run has looked at it and before
// SQLite has begun, which forgets such an interruption.
func TestInterruptAtAnyStep(t *testing.T) {
	c, err := Open("file:" + filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	s, err := c.Prepare(counting)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for after := range int64(2) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		heard := &asked{Context: ctx}
		rows, err := s.(*Stmt).QueryContext(heard, []driver.NamedValue{{Ordinal: 1, Value: after}})
		if err != nil {
			t.Fatal(err)
		}
		row := make([]driver.Value, 1)
		for range after {
			if err := rows.Next(row); err != nil || row[0] != int64(1) {
				t.Fatalf("%v, %v", row, err)
			}
		}
		heard.tell = func() {
			heard.tell = nil
			cancel()
			for end := time.Now().Add(30 * time.Second); lib.Xsqlite3_is_interrupted(c.tls, c.db) == 0 && time.Now().Before(end); {
				runtime.Gosched()
			}
		}
		for err == nil {
			err = rows.Next(row)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d rows it ends with %v", after, err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}
