package sqlite

import (
	"sync"
	"testing"
)

// Goal: stores that open and close one home at the same time never find it locked: the last one to close takes the WAL
// away, and nobody opens in that moment.
func TestOpenWhileOthersClose(t *testing.T) {
	home := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 15 {
				s, err := Open(t.Context(), home, Config{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}
