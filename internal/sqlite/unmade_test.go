package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/store"
)

// TestReadingWhileTheDatabaseIsMade: a database whose tables are not made yet has no sessions, and shows them once they
// are there.
func TestReadingWhileTheDatabaseIsMade(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "perdure.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reader := mustOpen(t, home, Config{})
	for range 2 {
		page, err := reader.List(t.Context(), store.Query{})
		if err != nil || len(page.Sessions) != 0 {
			t.Fatalf("%v, %v", page, err)
		}
	}
	newLog(t, mustOpen(t, home, Config{}), "a")
	page, err := reader.List(t.Context(), store.Query{})
	if err != nil || len(page.Sessions) != 1 {
		t.Errorf("once it is made: %v, %v", page, err)
	}
}
