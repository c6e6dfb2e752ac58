package sqlite3_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unsafe"

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
	for _, ctx := range []context.Context{t.Context(), context.Background()} {
		rows, err := second.QueryContext(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(rows.Close(), rows.Close()); err != nil {
			t.Error(err)
		}
	}
	if got := every(t, second); got[0][0] != int64(2) {
		t.Errorf("the second statement gives %v", got)
	}
	if err := errors.Join(second.Close(), c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}
