package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/capture"
)

// Whatever happens to a directory, between captures, across processes and by any rung: a tree is what a plain reading
// of the directory says.
func TestTreeIsTheDirectory(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, nil)
		n := 0
		for range rapid.IntRange(1, 12).Draw(r, "rounds") {
			for range rapid.IntRange(0, 6).Draw(r, "changes") {
				n++
				w.change(r, n)
			}
			rung := rapid.SampledFrom([]capture.Rung{capture.Hint, capture.Hint, capture.Walk, capture.Verify}).Draw(r, "rung")
			if rapid.IntRange(0, 5).Draw(r, "again") == 0 {
				w.again()
			}
			got := w.capture(rung)
			w.same(fmt.Sprint(got.Rung), w.content(got.Tree), w.plain())
			if next := w.capture(capture.Hint); next.Tree != got.Tree || next.Changed != 0 {
				t.Fatalf("nothing happened, and %d entries changed", next.Changed)
			}
		}
	})
}

var names = []string{"a", "b", "c/d", "c/e", "c/f/g", "h/i/j/k", "sp ace", "new\nline", "\xff\xfe", "-dash", "c", "h", "h/i"}

// change does one thing to the directory; what cannot be done is left.
func (w *world) change(r *rapid.T, n int) {
	path := w.path(rapid.SampledFrom(names).Draw(r, "name"))
	other := w.path(rapid.SampledFrom(names).Draw(r, "other"))
	switch rapid.IntRange(0, 10).Draw(r, "what") {
	case 0, 1, 2:
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = os.WriteFile(path, fmt.Appendf(nil, "text %03d", n), 0o600)
	case 3: // the same size, in place, at once
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = fmt.Fprintf(f, "text %03d", n)
			_ = f.Close()
		}
	case 4:
		_ = os.RemoveAll(path)
	case 5:
		_ = os.Rename(path, other)
	case 6:
		_ = os.Symlink("../outside", path)
	case 7:
		_ = os.Mkdir(path, 0o750)
	case 8:
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
			_ = os.Chmod(path, 0o700)
		}
	case 9: // the time of the content set back, as rsync and tar do
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			_ = os.WriteFile(path, fmt.Appendf(nil, "text %03d", n), 0o600)
			_ = os.Chtimes(path, time.Time{}, info.ModTime())
		}
	case 10: // a directory that another takes the place of
		if info, err := os.Lstat(other); err == nil && info.IsDir() {
			_ = os.Rename(other, other+".old")
			_ = os.Mkdir(other, 0o700)
			_ = os.WriteFile(filepath.Join(other, "fresh"), fmt.Appendf(nil, "%d", n), 0o600)
		}
	}
}
