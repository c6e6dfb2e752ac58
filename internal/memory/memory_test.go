package memory_test

import (
	"testing"

	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Home {
		home := &memory.Home{}
		return storetest.Home{
			Open: func(testing.TB) store.Store { return home.Open() },
			Kill: func(_ testing.TB, s store.Store) { s.(*memory.Store).Kill() },
		}
	})
}
