package care_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A write-ahead log that was removed is told by every command, doctor and verify --all fail, also after others wrote,
// until a person takes the note away.
func TestRemovedLog(t *testing.T) {
	w := clitest.New(t)
	w.Create("old")
	w.Create("new")
	if out := w.Run("verify", "--all"); out.Code != 0 {
		t.Fatalf("%+v", out)
	}
	for _, name := range []string{"perdure.db-wal", "perdure.db-shm"} {
		if err := os.Remove(filepath.Join(w.Home, name)); err != nil {
			t.Fatal(err)
		}
	}
	const says = "session new is gone, acknowledged by pid "
	for range 2 {
		if o := w.Run("list"); o.Code != 0 || !strings.Contains(o.Stderr, says) {
			t.Errorf("list: %+v", o)
		}
		w.Fails(1, says, "verify", "--all")
		if out := w.Run("doctor").Stdout; !strings.Contains(out, says) || !strings.Contains(out, "fail  losses") || !strings.Contains(out, "restore a backup") {
			t.Errorf("doctor: %s", out)
		}
		if o := w.Run("verify", "--all", "--json"); o.Code != 1 || !strings.Contains(o.Stdout, says) {
			t.Errorf("verify --json: %+v", o)
		}
		w.Create("another") // moves the mark on
		w.OK("delete", "another", "-y")
	}
	if err := os.Remove(filepath.Join(w.Home, "perdure.lost")); err != nil {
		t.Fatal(err)
	}
	w.OK("verify", "--all")
}
