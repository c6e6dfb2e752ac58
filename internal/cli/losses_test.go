package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A write-ahead log that was removed is told by every command, doctor and verify --all fail, also after others wrote,
// until a person takes the note away.
func TestRemovedLog(t *testing.T) {
	w := newWorld(t)
	w.create("old")
	w.create("new")
	if out := w.run("verify", "--all"); out.code != 0 {
		t.Fatalf("%+v", out)
	}
	for _, name := range []string{"perdure.db-wal", "perdure.db-shm"} {
		if err := os.Remove(filepath.Join(w.home, name)); err != nil {
			t.Fatal(err)
		}
	}
	const says = "session new is gone, acknowledged by pid "
	for range 2 {
		if o := w.run("list"); o.code != 0 || !strings.Contains(o.stderr, says) {
			t.Errorf("list: %+v", o)
		}
		w.fails(1, says, "verify", "--all")
		if out := w.run("doctor").stdout; !strings.Contains(out, says) || !strings.Contains(out, "fail  losses") || !strings.Contains(out, "restore a backup") {
			t.Errorf("doctor: %s", out)
		}
		if o := w.run("verify", "--all", "--json"); o.code != 1 || !strings.Contains(o.stdout, says) {
			t.Errorf("verify --json: %+v", o)
		}
		w.create("another") // moves the mark on
		w.ok("delete", "another", "-y")
	}
	if err := os.Remove(filepath.Join(w.home, "perdure.lost")); err != nil {
		t.Fatal(err)
	}
	w.ok("verify", "--all")
}
