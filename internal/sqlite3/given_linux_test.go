package sqlite3_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/sqlite3"
)

// visit uses a database in every way, the wrong ones included, with texts that have a megabyte each, and closes it.
func visit(t *testing.T, path, mega string) {
	if _, err := sqlite3.Open("file:/nowhere/at/all.db?" + mega); err == nil {
		t.Error("it opens nothing")
	}
	c, err := sqlite3.Open("file:" + path + "?x=" + mega)
	if err != nil {
		t.Fatal(err)
	}
	comment := " -- " + mega
	for i, text := range []string{
		"CREATE TABLE IF NOT EXISTS t(a PRIMARY KEY); DELETE FROM t; INSERT INTO t VALUES('x')",
		"SELECT 1; INSERT INTO t VALUES('x'); SELECT 2", "SELECT 1; SELEC 2",
	} {
		if _, err := c.ExecContext(t.Context(), text+comment, nil); (err != nil) != (i > 0) {
			t.Errorf("script %d: %v", i, err)
		}
	}
	for _, query := range []string{"SELECT * FROM nowhere", ""} {
		if _, err := c.Prepare(query + comment); err == nil {
			t.Error("it is prepared")
		}
	}
	s, err := c.Prepare("SELECT ?, ?" + comment)
	if err != nil {
		t.Fatal(err)
	}
	for _, values := range [][]driver.NamedValue{named("x", "y"), named(mega, struct{}{}), named(mega, mega+"x"), named(mega, nil)} {
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

// resident is how much memory this process has, in bytes.
func resident(t *testing.T) (n int) {
	t.Helper()
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(b), new(int), &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n * os.Getpagesize()
}

// leastGrown is by how many bytes this process grew in the best of a few rounds. What leaks grows in each of them; what
// the runtime and the race detector take for themselves does not.
func leastGrown(t *testing.T, round func()) int {
	t.Helper()
	least := math.MaxInt
	for range 4 {
		before := resident(t)
		round()
		least = min(least, resident(t)-before)
	}
	return least
}

// Whatever was done with a database, its memory outside the garbage collector is given back when it is closed.
func TestMemoryIsGivenBack(t *testing.T) {
	path, mega := filepath.Join(t.TempDir(), "a.db"), strings.Repeat("x", 1<<20)
	visit(t, path, mega) // what the library keeps for good
	if grown := leastGrown(t, func() {
		for range 6 {
			visit(t, path, mega)
		}
	}); grown > 3<<20 {
		t.Errorf("six visits leave %d KiB", grown>>10)
	}
}

// So is the memory of one that could not be opened.
func TestMemoryOfNothing(t *testing.T) {
	fail := func(n int) {
		for range n {
			if _, err := sqlite3.Open("file:/nowhere/at/all.db"); err == nil {
				t.Fatal("it opens nothing")
			}
			if _, err := sqlite3.Open(endless()); err == nil {
				t.Fatal("it opens what has no name")
			}
		}
	}
	fail(10)
	if grown := leastGrown(t, func() { fail(1500) }); grown > 6<<20 {
		t.Errorf("1500 failures leave %d KiB", grown>>10)
	}
}
