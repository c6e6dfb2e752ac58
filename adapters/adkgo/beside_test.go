package adkgo_test

import (
	"database/sql"
	"testing"

	_ "github.com/glebarez/sqlite" // registers a driver named sqlite, as ADK's own service has it

	"github.com/perdure/perdure/adapters/adkgo"
)

// Another SQLite may be linked and used beside Perdure's.
func TestBesideAnotherSQLite(t *testing.T) {
	s := service(t, adkgo.Options{})
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	version := ""
	if err := db.QueryRowContext(t.Context(), "SELECT sqlite_version()").Scan(&version); err != nil || version == "" {
		t.Errorf("version %q, %v", version, err)
	}
	if cur := create(t, s, "app", "user", "s"); cur.ID() != "s" {
		t.Errorf("id %q", cur.ID())
	}
}
