package care_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
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
	probe := clitest.New(t)
	probe.Eventful("x")
	events := len(clitest.Lines(t, probe.OK("log", "x", "--json")))
	for seq := 1; seq <= events; seq += 3 {
		w := clitest.New(t)
		w.Eventful("bad")
		w.Create("good")
		w.DropSnapshots()
		w.Damage("bad", seq)
		o := w.Run("show", "bad")
		if o.Code != 1 {
			t.Fatalf("event %d: show: %+v", seq, o)
		}
		if seq == 1 {
			w.OK(append(advised(t, o.Stderr, "delete"), "--yes")...)
			continue
		}
		way := advised(t, o.Stderr, "fork")
		if want := fmt.Sprintf("bad@%d", seq-1); way[1] != want {
			t.Errorf("event %d: %v is advised, want %s", seq, way, want)
		}
		made := strings.TrimSpace(w.OK(way...))
		w.OK("show", made)
		w.OK("verify", "good")
	}
}

// A session whose process was on another machine names that machine and two ways on, and both work.
func TestWayOnFromAnotherMachine(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	w.Abroad("s1")
	o := w.Fails(5, "elsewhere", "delete", "s1", "--yes")
	fork, takeover := advised(t, o.Stderr, "fork"), advised(t, o.Stderr, "takeover")
	if out := w.OK("doctor"); !strings.Contains(out, "elsewhere") || !strings.Contains(out, "perdure takeover s1") {
		t.Errorf("doctor:\n%s", out)
	}
	w.OK("show", strings.TrimSpace(w.OK(fork...)))
	w.Fails(2, "--yes", takeover...)
	w.App.Asks, w.App.Stdin = true, strings.NewReader("n\n")
	w.Fails(1, "nothing was changed", takeover...)
	w.Fails(5, "elsewhere", "delete", "s1", "--yes")
	w.App.Stdin = strings.NewReader("y\n")
	w.OK(takeover...)
	w.OK("close", "s1")
	if o := w.Run("takeover", "s1"); o.Code != 0 || !strings.Contains(o.Stderr, "nobody holds") {
		t.Errorf("again: %+v", o)
	}
	w.App.Environ = append(w.App.Environ, "PERDURE_SESSION_ID=s1")
	w.Fails(1, "for a human", "takeover", "s1", "--yes")
}

// Of a database that was cut short, sessions that are whole can be read, and what cannot be done names the remedy.
func TestCutDatabase(t *testing.T) {
	w := clitest.New(t)
	for _, id := range []string{"first", "second", "third"} {
		w.Eventful(id)
	}
	path := filepath.Join(w.Home, "perdure.db")
	w.Change("PRAGMA wal_checkpoint(TRUNCATE)")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-2*4096); err != nil {
		t.Fatal(err)
	}
	if out := w.OK("list"); !strings.Contains(out, "first") || !strings.Contains(out, "third") {
		t.Errorf("list: %s", out)
	}
	w.OK("log", "first")
	if o := w.Run("log", "third"); o.Code != 0 && !strings.Contains(o.Stderr, "backup") || strings.Contains(o.Stderr, "perdure delete") {
		t.Errorf("log of a session that may be cut: %+v", o)
	}
	if o := w.Fails(1, "damaged", "close", "first"); !strings.Contains(o.Stderr, "perdure backup") {
		t.Errorf("close: %s", o.Stderr)
	}
}
