package handoffs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/handoff"
)

// Goal: whoever deletes a session is told which handoffs stay with words of it, and of no other session's.
func TestADeletionNamesTheHandoffsThatStay(t *testing.T) {
	for _, shared := range []bool{false, true} {
		w := clitest.New(t)
		if shared {
			w.Configure("[knowledge]\nproject = \"on\"\n")
		}
		w.Create("secretive")
		w.Create("another")
		left := leave(t, w, shared, handoff.Document{Session: "secretive", Seq: 2, Written: written})
		if o := w.Run("delete", "another", "--yes"); o.Code != 0 || strings.Contains(o.Stderr, left.Path) {
			t.Errorf("of another session: %+v", o)
		}
		if o := w.Run("delete", "secretive", "--yes"); o.Code != 0 || !strings.Contains(o.Stderr, "stays: "+left.Path) {
			t.Errorf("shared %v: %s is not named: %+v", shared, left.Path, o)
		}
		if _, err := os.Stat(left.Path); err != nil {
			t.Error(err)
		}
	}
}
