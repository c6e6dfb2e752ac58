package clitest

import (
	"database/sql/driver"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/sqlite3"
	"github.com/perdure/perdure/store"
)

// Change runs a statement on the database itself and tells how many rows it changed.
func (w *World) Change(statement string, values ...driver.Value) int64 {
	w.T.Helper()
	db, err := sqlite3.Open("file:" + filepath.Join(w.Home, "perdure.db"))
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	st, err := db.Prepare(statement)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	r, err := st.(*sqlite3.Stmt).ExecContext(w.T.Context(), named(values))
	if err != nil {
		w.T.Fatal(err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		w.T.Fatal(err)
	}
	return n
}

func named(values []driver.Value) []driver.NamedValue {
	out := make([]driver.NamedValue, len(values))
	for i, v := range values {
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// Damage changes one byte of an event's body on disk.
func (w *World) Damage(id string, seq int) {
	w.T.Helper()
	n := w.Change(`UPDATE event SET body = substr(body, 1, length(body)-2) || x'ff00'
		WHERE seq = ? AND session_no = (SELECT sno FROM session WHERE id = ?)`, int64(seq), id)
	if n != 1 {
		w.T.Fatalf("%d events damaged", n)
	}
}

// DropSnapshots makes every state be computed from the log.
func (w *World) DropSnapshots() {
	w.T.Helper()
	w.Change("DELETE FROM snapshot")
}

// Abroad makes a session look as if a process on another machine held it.
func (w *World) Abroad(id string) {
	w.T.Helper()
	record, err := json.Marshal(store.Holder{ID: "abroad", Host: "elsewhere", PID: 7, Since: 1, BootID: "b", Machine: "m"})
	if err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Home, "holders", "abroad"), record, 0o600); err != nil {
		w.T.Fatal(err)
	}
	w.Change("UPDATE session SET holder = 'abroad' WHERE id = ?", id)
}
