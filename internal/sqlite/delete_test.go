package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// holding names the files of a home in which a text can be found.
func holding(t *testing.T, home, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			files = append(files, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

const telling = "the telling text of the session"

// tell appends an event whose body holds the telling text, size bytes in all.
func (l *log) tell(size int) {
	l.t.Helper()
	body := []byte(telling + fmt.Sprint(rand.Uint64()))
	body = append(body, bytes.Repeat([]byte("x"), max(0, size-len(body)))...)
	e := storetest.Seal(l.lease.Session, l.head, store.Event{Kind: session.KindApp, Codec: session.Codec1, Body: body})
	heads := store.Heads{Title: telling + strings.Repeat("y", rand.IntN(300)), Labels: map[string]string{"k": telling}}
	if err := l.s.Append(context.Background(), l.lease, store.Batch{Events: []store.Event{e}, Heads: &heads}); err != nil {
		l.t.Fatal(err)
	}
	l.head = store.Head{Seq: e.Seq, Hash: e.Hash}
	l.acked = append(l.acked, e)
}

// full makes a session that has left its text in every table, between events of another one.
func full(t *testing.T, s *Store, id string, beside *log) *log {
	t.Helper()
	l := newLog(t, s, id)
	for i := range 60 {
		l.tell(100 + 3000*(i%4))
		beside.must(1)
		if _, err := s.Send(t.Context(), id, store.Item{Key: telling + fmt.Sprint(i), Body: []byte(telling + strings.Repeat("z", 40*i))}); err != nil {
			t.Fatal(err)
		}
		if i%5 == 0 {
			if err := s.SaveSnapshot(t.Context(), id, store.Snapshot{Seq: l.head.Seq, State: bytes.Repeat([]byte(telling), 1+20*i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(s.SetReader(t.Context(), id, "task", telling, 7), s.Release(t.Context(), l.lease)); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestDeleteLeavesNoText: after a deletion no file of the home holds a word of the session, the log included, and the
// disk has its space back. The control: before, it does, and a deletion alone leaves some.
func TestDeleteLeavesNoText(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	kept := newLog(t, s, "kept")
	kept.must(5)
	full(t, s, "gone", kept)
	if _, _, err := s.writer.wal("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(s.path)
	if err != nil || len(holding(t, home, telling)) == 0 {
		t.Fatalf("the text is nowhere before: %v", err)
	}
	if err := s.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	if len(holding(t, home, telling)) == 0 {
		t.Error("the control: a deletion alone leaves nothing either")
	}
	if err := s.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files := holding(t, home, telling); len(files) > 0 {
		t.Errorf("the text is still in %v", files)
	}
	after, err := os.Stat(s.path)
	if err != nil || after.Size() > before.Size()/2 {
		t.Errorf("the database has %d bytes, before %d, %v", after.Size(), before.Size(), err)
	}
	if got, err := readAll(s, "kept"); err != nil || !same(got, kept.acked) {
		t.Errorf("the other session: %d events, %v", len(got), err)
	}
}

// TestDeleteWithoutRebuilding: where the database is not written anew, the pages of a session are overwritten all the
// same.
func TestDeleteWithoutRebuilding(t *testing.T) {
	home := t.TempDir()
	cfg := Config{free: func(string) int64 { return reserve + 4096 }}
	s := mustOpen(t, home, cfg)
	defer func() { _ = s.Close() }()
	l := newLog(t, s, "gone")
	l.s.cfg.free = func(string) int64 { return -1 }
	for range 50 {
		l.tell(4000)
	}
	l.s.cfg.free = cfg.free
	if err := errors.Join(s.Release(t.Context(), l.lease), s.Delete(t.Context(), "gone"), s.Scrub(t.Context())); err != nil {
		t.Fatal(err)
	}
	if files := holding(t, home, telling); len(files) > 0 {
		t.Errorf("the text is still in %v", files)
	}
}

// TestPowerLossInDelete: whenever the power goes during a deletion, the session is there as it was or it is gone, the
// other one is whole, and deleting again ends it.
func TestPowerLossInDelete(t *testing.T) {
	play := func(d *disk, crashAt int) (kept, gone *log, done bool) {
		s, err := Open(t.Context(), t.TempDir(), simConfig(boot(t, d), nil))
		if err != nil {
			return nil, nil, false
		}
		defer abandon(s)
		kept, gone = newLog(t, s, "kept"), newLog(t, s, "gone")
		for range 8 {
			kept.must(2)
			gone.tell(3000)
		}
		if err := s.Release(t.Context(), gone.lease); err != nil {
			t.Fatal(err)
		}
		d.mu.Lock()
		d.crashAt = d.syncs + crashAt
		d.mu.Unlock()
		return kept, gone, errors.Join(s.Delete(t.Context(), "gone"), s.Scrub(t.Context())) == nil
	}
	crashes, there := 0, 0
	for at := 1; ; at++ {
		d := newDisk()
		kept, gone, done := play(d, at)
		if done {
			break
		}
		for seed := range 3 {
			crashes++
			next := d.powerLoss(dice(at*10 + seed))
			s := mustOpen(t, t.TempDir(), simConfig(boot(t, next), nil))
			got, err := readAll(s, "gone")
			switch {
			case errors.Is(err, store.ErrNotFound):
			case err != nil || !same(got, gone.acked):
				t.Errorf("sync %d: %d events of the session, %v", at, len(got), err)
			default:
				there++
				if err := s.Delete(t.Context(), "gone"); err != nil {
					t.Error(err)
				}
			}
			if err := s.Scrub(t.Context()); err != nil {
				t.Error(err)
			}
			if got, err := readAll(s, "kept"); err != nil || !same(got, kept.acked) {
				t.Errorf("sync %d: %d events of the other session, %v", at, len(got), err)
			}
			if fault := integrity(s); fault != "" {
				t.Error(fault)
			}
			if b := next.files[databaseName].now; bytes.Contains(b, []byte(telling)) {
				t.Errorf("sync %d: the text is still there", at)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d power losses, the session was there after %d", crashes, there)
	if crashes < 6 || there == 0 || there == crashes {
		t.Error("want both outcomes")
	}
}
