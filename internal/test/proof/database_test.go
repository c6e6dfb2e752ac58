package proof_test

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"
)

// openDatabase opens a home's database beside the store, for a test that damages it.
func openDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// flip changes one bit in the body of an event. Done twice, it is undone.
func flip(t *testing.T, db *sql.DB, id string, seq int64) {
	t.Helper()
	var gid int64
	var body []byte
	err := db.QueryRowContext(t.Context(), `SELECT e.gid, e.body FROM event e JOIN session s ON s.sno = e.session_no WHERE s.id = ? AND e.seq = ?`, id, seq).Scan(&gid, &body)
	if err != nil {
		t.Fatal(err)
	}
	body[int(seq*7919)%len(body)] ^= 1 << (seq % 8)
	if _, err := db.ExecContext(t.Context(), `UPDATE event SET body = ? WHERE gid = ?`, body, gid); err != nil {
		t.Fatal(err)
	}
}
