package capture_test

import (
	"os"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/capture"
)

// What the newest capture saw of a file is known by its path from any directory above it; what is no file, or not kept, has
// no known size, and what is not there is not there.
func TestWhatIsKnownOfFiles(t *testing.T) {
	w := newWorld(t, func(c *capture.Config) { c.MaxFile = 100 })
	w.write("top", "1")
	w.write("d/e/f", "three")
	w.write("d/large", strings.Repeat("x", 101))
	w.write("node_modules/p/f", "made again")
	if err := os.Symlink("top", w.path("link")); err != nil {
		t.Fatal(err)
	}
	w.capture(capture.Walk)
	info, err := os.Stat(w.path("d/e/f"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, path string
		size      int64
		there     bool
	}{
		{"", "top", 1, true},
		{"", "d/e/f", 5, true},
		{"d", "e/f", 5, true},
		{"d/e", "f", 5, true},
		{"", "d", -1, true},
		{"d", "large", -1, true},
		{"", "link", -1, true},
		{"", "node_modules/p/f", -1, true},
		{"node_modules", "p/f", -1, true},
		{"", "other", 0, false},
		{"d", "other", 0, false},
		{"d", "top", 0, false},
		{"other", "f", 0, false},
		{"", "", 0, false},
	} {
		size, mtime, there := w.dir.Stat(c.dir)(c.path)
		if size != c.size || there != c.there || c.size == 5 && mtime != info.ModTime().UnixNano() || c.size <= 0 && mtime != 0 {
			t.Errorf("%q from %q: %d bytes at %d, there %t; want %d, %t", c.path, c.dir, size, mtime, there, c.size, c.there)
		}
	}
}
