package capture_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/tree"
)

// While files, links, fifos and directories take each other's places, a capture ends, reads nothing outside of its
// directory and waits for no fifo. When all is quiet the next one has what is there.
func TestSwapsWhileCapturing(t *testing.T) {
	rounds := 150
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 20_000
	}
	w := newWorld(t, nil)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("OUTSIDE"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/d/f", "a/e/f", "b"} {
		w.write(name, "inside")
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.RemoveAll(w.path("b"))
			switch i % 4 {
			case 0:
				_ = os.Symlink(filepath.Join(outside, "f"), w.path("b"))
			case 1:
				_ = syscall.Mkfifo(w.path("b"), 0o600)
			case 2:
				_ = os.WriteFile(w.path("b"), []byte("inside"), 0o600)
			case 3:
				_ = os.Mkdir(w.path("b"), 0o700)
			}
			_ = os.Rename(w.path("a/d"), w.path("a/d.away"))
			_ = os.Symlink(outside, w.path("a/d"))
			_ = os.Remove(w.path("a/d"))
			_ = os.Rename(w.path("a/d.away"), w.path("a/d"))
		}
	})
	for i := range rounds {
		rung := capture.Walk
		if i%2 == 0 {
			rung = capture.Hint
		}
		r := w.capture(rung)
		err := tree.Walk(w.blobs, r.Tree, func(path string, e tree.Entry) error {
			if e.Kind == tree.File && e.Flags&tree.Skipped == 0 {
				if b, err := w.blobs.Get(e.Digest); err != nil || !strings.HasPrefix("inside", string(b)) { // it may be half written
					t.Errorf("%s holds %q: %v", path, b, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	r := w.capture(capture.Hint)
	w.same("quiet", w.content(r.Tree), w.plain())
}

// A file that changes while it is read is read again, and one that never rests is marked: it is captured anew each time.
func TestRestlessFileIsMarked(t *testing.T) {
	w := newWorld(t, nil)
	w.write("restless", strings.Repeat("x", 900<<10))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		f, err := os.OpenFile(w.path("restless"), os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_, _ = f.WriteAt([]byte{byte(i)}, int64(i%(900<<10)))
			}
		}
	})
	torn := false
	for range 200 {
		if r := w.capture(capture.Walk); len(r.Torn) == 1 {
			torn = true
			if e, err := tree.Find(w.blobs, r.Tree, "restless"); err != nil || !e.Flags.Has(tree.Torn) || r.Torn[0] != "restless" {
				t.Errorf("%+v %v %v", e, r.Torn, err)
			}
			break
		}
	}
	close(stop)
	wg.Wait()
	if !torn {
		t.Error("a file that is written all the time is never torn")
	}
	r := w.capture(capture.Hint)
	if len(r.Torn) != 0 {
		t.Errorf("at rest it is still torn: %v", r.Torn)
	}
	w.same("at rest", w.content(r.Tree), w.plain())
}

// Whatever bytes a cache has, a capture is right; and one that is whole spares reading.
func TestDamagedCacheIsNone(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"a", "b/c", "b/d"} {
		w.write(name, name)
	}
	want := w.capture(capture.Walk).Tree
	if err := w.dir.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(w.cfg.Cache)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i <= len(whole); i++ {
		damaged := append([]byte{}, whole[:i]...)
		if i%2 == 0 {
			damaged = append(damaged, whole[i:]...)
			if i < len(whole) {
				damaged[i] ^= 0x41
			}
		}
		if err := os.WriteFile(w.cfg.Cache, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		w.open()
		if r := w.capture(capture.Walk); r.Tree != want {
			t.Fatalf("with a cache damaged at byte %d the tree is another one", i)
		}
		if err := w.dir.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
}
