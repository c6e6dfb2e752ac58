package cli

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// advised is the command line on a hint of stderr that begins with a program's verb.
func advised(t *testing.T, stderr, verb string) []string {
	t.Helper()
	for line := range strings.Lines(stderr) {
		if _, rest, ok := strings.Cut(line, "perdure "+verb+" "); ok {
			return []string{verb, strings.TrimRight(strings.Fields(rest)[0], ",;.")}
		}
	}
	t.Fatalf("no hint names perdure %s:\n%s", verb, stderr)
	return nil
}

// What a damaged session's refusal advises works: a fork from the last good event, whichever is the damaged one.
func TestWayOnFromDamage(t *testing.T) {
	probe := newWorld(t)
	probe.eventful("x")
	events := len(lines(t, probe.ok("log", "x", "--json")))
	for seq := 1; seq <= events; seq += 3 {
		w := newWorld(t)
		w.eventful("bad")
		w.create("good")
		w.dropSnapshots()
		w.damage("bad", seq)
		o := w.run("show", "bad")
		if o.code != 1 {
			t.Fatalf("event %d: show: %+v", seq, o)
		}
		if seq == 1 {
			w.ok(append(advised(t, o.stderr, "delete"), "--yes")...)
			continue
		}
		way := advised(t, o.stderr, "fork")
		if want := fmt.Sprintf("bad@%d", seq-1); way[1] != want {
			t.Errorf("event %d: %v is advised, want %s", seq, way, want)
		}
		made := strings.TrimSpace(w.ok(way...))
		w.ok("show", made)
		w.ok("verify", "good")
	}
}

// abroad makes a session look as if a process on another machine held it.
func (w *world) abroad(id string) {
	w.t.Helper()
	record, err := json.Marshal(store.Holder{ID: "abroad", Host: "elsewhere", PID: 7, Since: 1, BootID: "b", Machine: "m"})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, "holders", "abroad"), record, 0o600); err != nil {
		w.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(w.home, "perdure.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec("UPDATE session SET holder = 'abroad' WHERE id = ?", id); err != nil {
		w.t.Fatal(err)
	}
}

// A session whose process was on another machine names that machine and two ways on, and both work.
func TestWayOnFromAnotherMachine(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	w.abroad("s1")
	o := w.fails(5, "elsewhere", "delete", "s1", "--yes")
	fork, takeover := advised(t, o.stderr, "fork"), advised(t, o.stderr, "takeover")
	if out := w.ok("doctor"); !strings.Contains(out, "elsewhere") || !strings.Contains(out, "perdure takeover s1") {
		t.Errorf("doctor:\n%s", out)
	}
	w.ok("show", strings.TrimSpace(w.ok(fork...)))
	w.fails(2, "--yes", takeover...)
	w.app.Asks, w.app.Stdin = true, strings.NewReader("n\n")
	w.fails(1, "nothing was changed", takeover...)
	w.fails(5, "elsewhere", "delete", "s1", "--yes")
	w.app.Stdin = strings.NewReader("y\n")
	w.ok(takeover...)
	w.ok("close", "s1")
	if o := w.run("takeover", "s1"); o.code != 0 || !strings.Contains(o.stderr, "nobody holds") {
		t.Errorf("again: %+v", o)
	}
	w.app.Environ = append(w.app.Environ, "PERDURE_SESSION_ID=s1")
	w.fails(1, "for a human", "takeover", "s1", "--yes")
}

// Of a database that was cut short, sessions that are whole can be read, and what cannot be done names the remedy.
func TestCutDatabase(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"first", "second", "third"} {
		w.eventful(id)
	}
	path := filepath.Join(w.home, "perdure.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-2*4096); err != nil {
		t.Fatal(err)
	}
	if out := w.ok("list"); !strings.Contains(out, "first") || !strings.Contains(out, "third") {
		t.Errorf("list: %s", out)
	}
	w.ok("log", "first")
	if o := w.run("log", "third"); o.code != 0 && !strings.Contains(o.stderr, "backup") || strings.Contains(o.stderr, "perdure delete") {
		t.Errorf("log of a session that may be cut: %+v", o)
	}
	if o := w.fails(1, "damaged", "close", "first"); !strings.Contains(o.stderr, "perdure backup") {
		t.Errorf("close: %s", o.stderr)
	}
}
