package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// lostIn opens a home, asks what is lost, and closes.
func lostIn(t *testing.T, home string, cfg Config) []string {
	t.Helper()
	s := mustOpen(t, home, cfg)
	defer func() { _ = s.Close() }()
	lost, err := s.Lost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lost
}

// TestLostLog: a write-ahead log that was removed or cut, or has a flipped bit in any frame, is noticed, and stays so
// when others write. What was not damaged is not told.
func TestLostLog(t *testing.T) {
	made := t.TempDir()
	s := mustOpen(t, made, Config{})
	a, b := newLog(t, s, "a"), newLog(t, s, "b")
	for range 6 {
		a.must(1)
		b.must(1)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if lost := lostIn(t, made, Config{}); len(lost) > 0 {
		t.Fatalf("nothing is lost: %q", lost)
	}
	log, err := os.ReadFile(s.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	spoiled := map[string][]byte{"removed": nil, "empty": {}}
	for at := 0; at < len(log); at += 4120 {
		spoiled[fmt.Sprint("cut at ", at)] = log[:at]
		flipped := append([]byte{}, log...)
		flipped[min(at+60, len(log)-1)] ^= 4
		spoiled[fmt.Sprint("flipped near ", at)] = flipped
	}
	told := 0
	for name, image := range spoiled {
		home := filepath.Join(t.TempDir(), "home")
		if err := os.CopyFS(home, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, databaseName)
		err := os.Remove(path + "-shm")
		if image == nil {
			err = errors.Join(err, os.Remove(path+"-wal"))
		} else {
			err = errors.Join(err, os.WriteFile(path+"-wal", image, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), home, Config{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// The release of the leases, by the close, comes after the last event: without it nothing is missing.
		got, _ := readAll(s, "b")
		whole := same(got, b.acked)
		lost, err := s.Lost(t.Context())
		if err != nil || (len(lost) == 0) != whole {
			t.Errorf("%s: %d of %d events, told %q, %v", name, len(got), len(b.acked), lost, err)
		}
		if !whole {
			told++
			later := newLog(t, s, "later")
			later.must(1)
			if after, err := s.Lost(t.Context()); err != nil || len(after) != 1 || after[0] != lost[0] {
				t.Errorf("%s: after a write: %q, %v", name, after, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if lost := lostIn(t, home, Config{}); (len(lost) == 0) != whole {
			t.Errorf("%s: the next process is told %q", name, lost)
		}
	}
	if told < 20 {
		t.Errorf("only %d of %d images had lost something", told, len(spoiled))
	}
}

// TestNothingLost: deletions, pruning, scrubbing and a mark that is torn or gone are no loss.
func TestNothingLost(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	none := func(when string) {
		t.Helper()
		if lost := lostIn(t, home, Config{}); len(lost) > 0 {
			t.Errorf("%s: %q", when, lost)
		}
	}
	l := newLog(t, s, "a")
	l.must(3)
	none("events")
	if _, err := s.Send(t.Context(), "a", store.Item{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	none("an item")
	if err := s.Append(t.Context(), l.lease, store.Batch{Mark: 1}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Prune(t.Context(), 1<<60); n != 1 || err != nil {
		t.Fatalf("%d pruned, %v", n, err)
	}
	none("a pruned item")
	if err := errors.Join(s.Release(t.Context(), l.lease), s.Delete(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	none("a deleted session")
	if err := s.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	none("a database that was written anew")
	for _, mark := range []string{"", "0", "00000000 1 1 1 1 1", strings.Repeat(" ", 3000), `00000000 99 1 1 1 1 "x"`} {
		if err := os.WriteFile(filepath.Join(home, markName), []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
		none(fmt.Sprintf("a mark %.10q", mark))
	}
}

// TestMarkAfterPowerLoss: whatever a power loss does to the database, nothing is called lost that was not, though the
// mark is as new as it can be. The control, which syncs nothing, must be told.
func TestMarkAfterPowerLoss(t *testing.T) {
	for _, pragmas := range []map[string]string{nil, {"synchronous": "OFF"}} {
		told := 0
		// What a power loss takes is random: the control is played on until it lost something.
		for at := 12; at < 60 || pragmas != nil && told == 0 && at < 60*8; at += 3 {
			t.Run(fmt.Sprint(pragmas, at), func(t *testing.T) {
				d, home := newDisk(), t.TempDir()
				d.crashAt = at
				if pragmas != nil {
					d.crashAt = 1 << 30
				}
				h := &history{t: t}
				h.play(simConfig(boot(t, d), pragmas), home, 4)
				h.abandon()
				if pragmas != nil {
					d.crashAt = at
				}
				s, err := Open(t.Context(), home, simConfig(boot(t, d.powerLoss(dice(at))), nil))
				if err != nil {
					if pragmas == nil {
						t.Error(err)
					}
					return
				}
				defer func() { _ = s.Close() }()
				lost, err := s.Lost(t.Context())
				if len(lost) > 0 {
					told++
				}
				if pragmas == nil && (err != nil || len(lost) > 0) {
					t.Errorf("%q, %v", lost, err)
				}
			})
		}
		t.Logf("%v: told %d times", pragmas, told)
		if pragmas != nil && told == 0 {
			t.Error("the control is never told of a loss")
		}
	}
}

// BenchmarkMark is the mark's part of an append.
func BenchmarkMark(b *testing.B) {
	s := mustOpen(b, b.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	if err := s.Create(b.Context(), store.NewSession{ID: "a", Events: storetest.Events("a", store.Head{}, 1)}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.writer.acked = acknowledged{Session: "a", SNo: 1, Seq: 1}
		s.writer.acknowledge()
	}
}
