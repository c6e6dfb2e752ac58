package sqlite

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// TestCloseLeavesAShortLog: a store that closes alone leaves a short write-ahead log to the next opening, which finds
// everything in it, and takes a long one away.
func TestCloseLeavesAShortLog(t *testing.T) {
	home := t.TempDir()
	wal := filepath.Join(home, databaseName+"-wal")
	short, long := 0, 0
	var acked []store.Event
	for round := range 40 {
		s := mustOpen(t, home, Config{})
		l := newLog(t, s, "a")
		got, err := readAll(s, "a")
		if err != nil || !same(got, acked) {
			t.Fatalf("round %d: %d events of %d, %v", round, len(got), len(acked), err)
		}
		for range 5 {
			l.must(1)
		}
		acked = append(acked, l.acked...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(wal); err != nil {
			long++
		} else if short++; info.Size() == 0 || info.Size() > 32+keepPages*(24+4096) {
			t.Errorf("round %d: %d bytes stay", round, info.Size())
		}
	}
	t.Logf("left %d times, taken away %d times", short, long)
	if short < 20 || long < 2 {
		t.Error("want both, and the first mostly")
	}
}

// TestSyncsOfACreation: on the simulated disk, opening a home that is in use, making a session and closing is one
// sync; reading is none.
func TestSyncsOfACreation(t *testing.T) {
	d := newDisk()
	cfg, home := simConfig(boot(t, d), nil), t.TempDir()
	cfg.sizes = nil // as they are in use
	visit := func(do func(*Store) error) int {
		before := d.syncs
		s := mustOpen(t, home, cfg)
		if err := do(s); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return d.syncs - before
	}
	create := func(id string) func(*Store) error {
		return func(s *Store) error {
			return s.Create(t.Context(), store.NewSession{ID: id, Events: storetest.Events(id, store.Head{}, 1)})
		}
	}
	visit(create("first"))
	if got := visit(create("second")); got != 1 {
		t.Errorf("a creation: %d syncs", got)
	}
	if got := visit(func(s *Store) error { _, err := readAll(s, "second"); return err }); got != 0 {
		t.Errorf("a visit that reads: %d syncs", got)
	}
}

// TestSyncsOfACreatingProcess: the same as the kernel sees it.
func TestSyncsOfACreatingProcess(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("strace is needed to see what the kernel was asked for; install it")
	}
	home := t.TempDir()
	syncs := func(role string) string {
		trace := filepath.Join(t.TempDir(), "trace")
		p := start(t, role, home, strace, "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace)
		p.acks(map[string]int64{}, 1)
		if err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, m := range regexp.MustCompile(`(?m)sync\(\d+<([^>]*)>`).FindAllStringSubmatch(string(b), -1) {
			files = append(files, filepath.Base(m[1]))
		}
		return fmt.Sprint(files)
	}
	syncs("creator:first")
	if got := syncs("creator:second"); got != fmt.Sprintf("[%s-wal]", databaseName) {
		t.Errorf("a creation syncs %s", got)
	}
	if got := syncs("reader"); got != "[]" {
		t.Errorf("a reader syncs %s", got)
	}
}

// TestCloseThatFails: a close that could not free the sessions says so, one that could not look whether its log is short
// does not; the sessions are free then whatever it said, and all that was acknowledged is there.
func TestCloseThatFails(t *testing.T) {
	for n := 1; ; n++ {
		home, faults := t.TempDir(), &failing{}
		s := mustOpen(t, home, Config{engine: faults.engine()})
		l := newLog(t, s, "a")
		l.must(2)
		faults.plant(n)
		err := s.Close()
		hit := faults.found()
		switch hit {
		case "":
			if err != nil || n < 5 {
				t.Errorf("without a fault, after %d with one: %v", n-1, err)
			}
			return
		case "BEGIN IMMEDIATE", "UPDATE session SET holder = NULL WHERE holder = ?1", "COMMIT":
			if !errors.Is(err, errPlanted) || errors.Is(err, store.ErrUncertain) != (hit == "COMMIT") {
				t.Errorf("%q failed: %v", hit, err)
			}
			if hit == "COMMIT" { // the process would end
				_ = s.writer.close(s.readers)
				_ = s.self.file.Close()
			}
		default:
			if err != nil {
				t.Errorf("%q failed: %v", hit, err)
			}
		}
		after := mustOpen(t, home, Config{})
		if got, err := readAll(after, "a"); err != nil || !same(got, l.acked) {
			t.Errorf("after %q: %d events, %v", hit, len(got), err)
		}
		if _, err := after.Acquire(t.Context(), "a"); err != nil {
			t.Errorf("after %q: %v", hit, err)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}
}
