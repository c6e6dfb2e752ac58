package sqlite

import (
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
