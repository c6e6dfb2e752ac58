package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// world is a directory with a store of all that was ever captured of it.
type world struct {
	t     testing.TB
	root  string
	dir   string // of journals
	blobs map[store.Digest][]byte
	base  store.Digest
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldAt(t, t.TempDir())
}

// fastWorld is one in memory where the system has that: campaigns make hundreds.
func fastWorld(t testing.TB) *world {
	t.Helper()
	at, err := os.MkdirTemp("/dev/shm", "restore") //nolint:usetesting // it is to lie there
	if err != nil {
		return newWorld(t)
	}
	t.Cleanup(func() { _ = os.RemoveAll(at) })
	return worldAt(t, at)
}

func worldAt(t testing.TB, at string) *world {
	t.Helper()
	w := &world{t: t, root: filepath.Join(at, "root"), dir: filepath.Join(at, "journals"), blobs: map[store.Digest][]byte{}}
	if err := os.Mkdir(w.root, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unlock(w.root) })
	return w
}

// unlock lets the test's directory be removed whatever modes it has.
func unlock(root string) {
	_ = filepath.WalkDir(root, func(p string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
}

func (w *world) Get(d store.Digest) ([]byte, error) {
	b, ok := w.blobs[d]
	if !ok {
		return nil, fmt.Errorf("no blob %s", d)
	}
	return b, nil
}

func (w *world) Open(d store.Digest) (io.ReadCloser, int64, error) {
	b, err := w.Get(d)
	if err != nil {
		return nil, 0, err
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

func (w *world) keep(b []byte) store.Digest {
	d := store.Sum(b)
	w.blobs[d] = b
	return d
}

// at is a path in the directory.
func (w *world) at(p string) string { return filepath.Join(w.root, p) }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(p, content string) *world {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.at(p)), 0o755))
	w.must(os.WriteFile(w.at(p), []byte(content), 0o644))
	return w
}

func (w *world) mode(p string, mode os.FileMode) *world { w.must(os.Chmod(w.at(p), mode)); return w }
func (w *world) remove(p string) *world                 { w.must(os.RemoveAll(w.at(p))); return w }
func (w *world) mkdir(p string) *world                  { w.must(os.MkdirAll(w.at(p), 0o755)); return w }

func (w *world) link(target, p string) *world {
	w.must(os.MkdirAll(filepath.Dir(w.at(p)), 0o755))
	w.must(os.Symlink(target, w.at(p)))
	return w
}

func (w *world) rename(from, to string) *world { w.must(os.Rename(w.at(from), w.at(to))); return w }

// old sets a time that no run gives by itself.
func (w *world) old(p string, sec int64) *world {
	w.must(os.Chtimes(w.at(p), time.Unix(sec, 7), time.Unix(sec, 7)))
	return w
}

func (w *world) has(p, content string) {
	w.t.Helper()
	b, err := os.ReadFile(w.at(p))
	if err != nil || string(b) != content {
		w.t.Errorf("%q holds %q, %v, want %q", p, b, err, content)
	}
}

func (w *world) lacks(p string) {
	w.t.Helper()
	if _, err := os.Lstat(w.at(p)); !errors.Is(err, fs.ErrNotExist) {
		w.t.Errorf("%q is there: %v", p, err)
	}
}

// capture puts what is in the directory into the store, as a capture does: no .git, nothing of a restore.
func (w *world) capture() store.Digest {
	w.t.Helper()
	return w.captureDir(w.root)
}

func (w *world) captureDir(dir string) store.Digest {
	names, err := os.ReadDir(dir)
	w.must(err)
	var entries []tree.Entry
	for _, n := range names {
		if n.Name() == ".git" || Staging(n.Name()) {
			continue
		}
		p := filepath.Join(dir, n.Name())
		info, err := os.Lstat(p)
		w.must(err)
		e := tree.Entry{Name: n.Name(), Mode: uint32(info.Mode().Perm()), Kind: tree.Other}
		if info.Mode()&os.ModeSetuid != 0 {
			e.Mode |= 0o4000
		}
		if info.Mode()&os.ModeSticky != 0 {
			e.Mode |= 0o1000
		}
		switch {
		case info.IsDir():
			e.Kind, e.Digest = tree.Dir, w.captureDir(p)
		case info.Mode()&fs.ModeSymlink != 0:
			e.Kind, e.MTime = tree.Link, info.ModTime().UnixNano()
			e.Target, err = os.Readlink(p)
			w.must(err)
		case info.Mode().IsRegular():
			b, err := os.ReadFile(p)
			w.must(err)
			e.Kind, e.Size, e.MTime, e.Digest = tree.File, int64(len(b)), info.ModTime().UnixNano(), w.keep(b)
		}
		entries = append(entries, e)
	}
	b, err := tree.Encode(entries)
	w.must(err)
	return w.keep(b)
}

// known captures the directory and makes that what the session knows.
func (w *world) known() store.Digest {
	w.base = w.capture()
	return w.base
}

// config is one without syncs, which no kill of a process needs.
func (w *world) config(m mover) Config {
	return Config{Content: w, mover: m, Sync: func(string, func() error) error { return nil }}
}

func (w *world) plan(target store.Digest, more ...func(*Input)) *Plan {
	w.t.Helper()
	in := Input{Root: w.root, Trees: w, Base: w.base, Now: w.capture(), Target: target}
	for _, f := range more {
		f(&in)
	}
	p, err := Make(context.Background(), in)
	w.must(err)
	return p
}

func force(in *Input) { in.Force = true }

// restore does it all.
func (w *world) restore(target store.Digest, more ...func(*Input)) (*Plan, Report) {
	w.t.Helper()
	p := w.plan(target, more...)
	return p, w.run(p)
}

func (w *world) run(p *Plan) Report {
	w.t.Helper()
	j, err := Begin(w.dir, w.root, p, w.config(mover{}))
	w.must(err)
	r, err := j.Run(context.Background())
	w.must(err)
	w.must(j.Forget())
	w.clean()
	return r
}

// clean fails if a restore left anything of its own behind.
func (w *world) clean() {
	w.t.Helper()
	names, err := os.ReadDir(w.root)
	w.must(err)
	for _, n := range names {
		if Staging(n.Name()) {
			w.t.Errorf("%s was left behind", n.Name())
		}
	}
	if ids, err := Pending(w.dir); err != nil || len(ids) > 0 {
		w.t.Errorf("journals are left: %q, %v", ids, err)
	}
}

// picture is all that a restore is to bring back, path by path; directories have no times.
func (w *world) picture() map[string]string { return picture(w.t, w.root) }

func picture(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if Staging(e.Name()) {
			return fs.SkipDir
		}
		switch {
		case e.IsDir():
			all[rel] = info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			all[rel] = fmt.Sprint("link ", to, info.ModTime().UnixNano())
			return err
		case info.Mode().IsRegular():
			b, err := os.ReadFile(p)
			all[rel] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), " ", string(b))
			return err
		default:
			all[rel] = info.Mode().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same fails where two pictures differ, with the first few differences.
func same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	n := 0
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if got[p] != want[p] && n < 5 {
			n++
			t.Errorf("%s: %q is %.120q, want %.120q", what, p, got[p], want[p])
		}
	}
	for p := range got {
		if _, ok := want[p]; !ok && n < 10 {
			n++
			t.Errorf("%s: %q should not be there: %.120q", what, p, got[p])
		}
	}
}

// kept gives the paths that stayed with their reasons.
func keptPaths(all []Kept) string {
	var out []string
	for _, k := range all {
		out = append(out, k.Path+": "+string(k.Why))
	}
	return strings.Join(out, "; ")
}
