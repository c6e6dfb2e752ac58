package capture_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
)

// A directory that is too large is refused before any of its files is read: an agent that is let loose in one does not
// pay for it again at every turn. Peers read all of it each time, and left what they had read on the disk.
func TestWhatIsTooLargeIsRefusedBeforeItIsRead(t *testing.T) {
	for what, change := range map[string]func(*capture.Config){
		"files": func(c *capture.Config) { c.MaxFiles = 5 }, "bytes": func(c *capture.Config) { c.MaxBytes = 5 << 10 },
	} {
		w := newWorld(t, func(c *capture.Config) {
			blobs, err := blob.Open(t.TempDir(), blob.Config{Quota: 1}) // nothing can be kept
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = blobs.Close() })
			c.Blobs = blobs
			change(c)
		})
		for i := range 6 {
			w.write(fmt.Sprintf("d%d/f", i), rand.Text()+string(make([]byte, 1<<10)))
		}
		for range 2 {
			if _, err := w.dir.Capture(t.Context(), capture.Walk); !errors.Is(err, capture.ErrRefused) {
				t.Errorf("too many %s: %v", what, err)
			}
		}
		w.remove("d0")
		w.remove("d1")
		if _, err := w.dir.Capture(t.Context(), capture.Walk); !errors.Is(err, blob.ErrQuota) {
			t.Errorf("what is not too large is read: %v", err)
		}
	}
}
