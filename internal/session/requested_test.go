package session

import (
	"testing"

	"github.com/perdure/perdure/store"
)

// Goal: a request that is too long though nobody knows the window's size is compacted as a whole once more after a
// compaction that helped for a while, and by the next level only after one that nothing was measured of.
func TestPressureWithoutAWindow(t *testing.T) {
	for measured, want := range map[int64]int{5000: LevelWhole, 0: LevelWhole + 1} {
		s := State{
			Context: Context{Replies: 1}, Overlay: &Overlay{Seq: 3, Level: LevelWhole, Measured: measured},
			Turn: &Turn{Model: &ModelCall{Status: CallFailed, Class: "context", Through: 9}},
		}
		if reason, level := s.pressure(); reason != CompactOverflow || level != want {
			t.Errorf("after one of %d tokens: %q at level %d, want %d", measured, reason, level, want)
		}
	}
}

// Goal: the state knows the digest of the newest request.
func TestPrefixOfTheNewestRequest(t *testing.T) {
	s := State{Epoch: 1, Turn: &Turn{N: 1, Step: 1}}
	for i, digest := range []store.Digest{{1}, {2}} {
		s.Turn.Model = nil
		s.ApplyBody(store.Event{Seq: int64(5 + i)}, &ModelRequested{Act: "t1.s1.a1", Turn: 1, Step: 1, Epoch: 1, Through: 1, Prefix: digest})
		if s.Context.Prefix != digest {
			t.Errorf("the prefix is %x, want %x", s.Context.Prefix, digest)
		}
	}
}
