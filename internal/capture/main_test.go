package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// world is a directory under care with a store of blobs of its own.
type world struct {
	t     testing.TB
	root  string
	packs string // where the blobs lie
	blobs *blob.Store
	cfg   capture.Config
	dir   *capture.Dir
}

func newWorld(t testing.TB, change func(*capture.Config)) *world {
	t.Helper()
	packs := filepath.Join(t.TempDir(), "blobs")
	blobs, err := blob.Open(packs, blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	w := &world{t: t, root: t.TempDir(), packs: packs, blobs: blobs}
	w.cfg = capture.Config{Blobs: blobs, Cache: filepath.Join(t.TempDir(), "stat"), Watch: true}
	if change != nil {
		change(&w.cfg)
	}
	w.open()
	t.Cleanup(func() { _ = w.dir.Close() })
	return w
}

func (w *world) open() {
	w.t.Helper()
	dir, err := capture.Open(w.root, w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.dir = dir
}

// again is another process's look at the directory: only the cache is left of this one's.
func (w *world) again() {
	w.t.Helper()
	if err := w.dir.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *world) capture(rung capture.Rung) capture.Result {
	w.t.Helper()
	r, err := w.dir.Capture(w.t.Context(), rung)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := r.Release(); err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

// content lists what a tree holds, each with what a restore needs to know.
func (w *world) content(root store.Digest) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := tree.Walk(w.blobs, root, func(path string, e tree.Entry) error {
		switch {
		case e.Flags.Has(tree.Skipped):
			out[path] = "skipped " + e.Kind.String()
		case e.Kind == tree.File:
			b, err := w.blobs.Get(e.Digest)
			if err != nil {
				return err
			}
			out[path] = fmt.Sprintf("file %o %d %s", e.Mode, e.MTime, b)
		case e.Kind == tree.Link:
			out[path] = "link " + e.Target
		default:
			out[path] = fmt.Sprintf("%s %o", e.Kind, e.Mode)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// plain reads the directory without any of this package: what a capture must say.
func (w *world) plain() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.Walk(w.root, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == w.root {
			return err
		}
		rel := strings.TrimPrefix(path, w.root+"/")
		switch mode := info.Mode(); {
		case mode.IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = fmt.Sprintf("file %o %d %s", mode.Perm(), info.ModTime().UnixNano(), b)
		case mode.IsDir():
			out[rel] = fmt.Sprintf("directory %o", mode.Perm())
		case mode&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			out[rel] = "link " + target
		default:
			out[rel] = fmt.Sprintf("special file %o", mode.Perm())
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// same fails if two lists differ, and says where.
func (w *world) same(what string, got, want map[string]string) {
	w.t.Helper()
	for path, v := range want {
		if got[path] != v {
			w.t.Errorf("%s: %q is %.80q, want %.80q", what, path, got[path], v)
		}
	}
	for path, v := range got {
		if _, ok := want[path]; !ok {
			w.t.Errorf("%s: %q is %.80q, and should not be there", what, path, v)
		}
	}
	if w.t.Failed() {
		w.t.FailNow()
	}
}
