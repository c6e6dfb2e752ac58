package sqlite

import (
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Home { return newHome(t, Config{}) })
}

// newHome is a home for the suite in a directory of the test's.
func newHome(t *testing.T, cfg Config) storetest.Home {
	dir := t.TempDir()
	return storetest.Home{
		Open: func(t testing.TB) store.Store { return mustOpen(t, dir, cfg) },
		Kill: func(t testing.TB, s store.Store) { abandon(s.(*Store)) },
	}
}

func mustOpen(t testing.TB, dir string, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// abandon does to the rest of the world what SIGKILL does: the holder's lock goes free, nothing is released.
func abandon(s *Store) {
	s.ending.Do(func() {
		s.beginning.Lock()
		s.closed.Store(true)
		s.beginning.Unlock()
		if !s.begun.Load() {
			_ = closeAll(s.readers.drain())
			return
		}
		s.writer.stop()
		_ = s.self.file.Close()
		_ = s.writer.close(s.readers)
	})
}
