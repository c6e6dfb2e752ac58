package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// A whole tree becomes a directory of its own, exactly: contents, modes, links, empty directories, times.
func TestATreeBecomesADirectory(t *testing.T) {
	w := newWorld(t)
	first(w)
	target, want := w.known(), w.picture()
	cfg, told, last := w.config(mover{}), 0, 0
	cfg.Progress = func(s Step) { told, last = told+1, s.Of-s.Done }
	for _, to := range []string{"new", "empty"} {
		to = filepath.Join(filepath.Dir(w.root), to)
		mode := os.FileMode(0o700)
		if strings.HasSuffix(to, "empty") {
			mode = 0o750
			w.must(os.Mkdir(to, mode))
		}
		t.Cleanup(func() { unlock(to) })
		made, err := Materialise(context.Background(), to, w, target, cfg)
		w.must(err)
		got := picture(t, to)
		if got["."] != (os.ModeDir | mode).String() {
			t.Errorf("the directory is %s", got["."])
		}
		got["."] = want["."]
		same(t, to, got, want)
		if made.Files != 13 || made.Links != 2 || made.Dirs != 10 || len(made.Kept) > 0 {
			t.Errorf("made %+v", made)
		}
		if _, err := Materialise(context.Background(), to, w, target, cfg); !errors.Is(err, ErrTaken) {
			t.Errorf("written over: %v", err)
		}
	}
	if last != 0 || told < 20 {
		t.Errorf("told %d times, %d are left", told, last)
	}
	alone(t, filepath.Dir(w.root), "empty", "journals", "new", "root")
}

// alone fails for names that are not expected in a directory.
func alone(t testing.TB, dir string, want ...string) {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !strings.Contains(" "+strings.Join(want, " ")+" ", " "+n.Name()+" ") {
			t.Errorf("%s was left in %s", n.Name(), dir)
		}
	}
}

// Killed at any step there is either nothing at the place or the whole, and the next call makes the whole.
func TestAKilledBuildIsMadeAnew(t *testing.T) {
	w := fastWorld(t)
	first(w)
	target, want := w.known(), w.picture()
	to := filepath.Join(filepath.Dir(w.root), "new")
	t.Cleanup(func() { unlock(to); unlock(filepath.Join(filepath.Dir(to), building+"new")) })
	for n := int64(0); ; n++ {
		cfg, seen := w.config(mover{}), new(atomic.Int64)
		cfg.Fault = func(string, string) error {
			if seen.Add(1) > n {
				return errStop
			}
			return nil
		}
		_, err := Materialise(context.Background(), to, w, target, cfg)
		if err == nil {
			if n < 20 {
				t.Errorf("only %d steps", n)
			}
			break
		}
		if !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		if _, err := os.Lstat(to); err == nil {
			t.Fatalf("killed at %d, and something is there", n)
		}
	}
	got := picture(t, to)
	got["."] = want["."]
	same(t, "made", got, want)
	alone(t, filepath.Dir(w.root), "journals", "new", "root")
}

// A content that is missing, a disk without room and a place that is taken leave nothing behind.
func TestAFailedBuildLeavesNothing(t *testing.T) {
	w := newWorld(t)
	first(w)
	target := w.known()
	up := filepath.Dir(w.root)
	cfg := w.config(mover{})
	delete(w.blobs, store.Sum([]byte("c")))
	if _, err := Materialise(context.Background(), filepath.Join(up, "new"), w, target, cfg); !errors.Is(err, ErrContent) {
		t.Errorf("%v", err)
	}
	cfg.Free = func(string) int64 { return 1000 }
	if _, err := Materialise(context.Background(), filepath.Join(up, "new"), w, target, cfg); !errors.Is(err, ErrNoSpace) {
		t.Errorf("%v", err)
	}
	w.must(os.Symlink(w.root, filepath.Join(up, "link")))
	if _, err := Materialise(context.Background(), filepath.Join(up, "link"), w, target, w.config(mover{})); !errors.Is(err, ErrTaken) {
		t.Errorf("%v", err)
	}
	alone(t, up, "journals", "link", "root")
}

// Two builders of one place do not meet, and what a builder clears away is only its own: a link in it is not followed.
func TestBuildersDoNotMeet(t *testing.T) {
	w := newWorld(t)
	w.write("f", "x")
	target := w.known()
	up := filepath.Dir(w.root)
	cfg, inner := w.config(mover{}), error(nil)
	cfg.Fault = func(step, _ string) error {
		if step == "build-file" {
			_, inner = Materialise(context.Background(), filepath.Join(up, "new"), w, target, w.config(mover{}))
		}
		return nil
	}
	if _, err := Materialise(context.Background(), filepath.Join(up, "new"), w, target, cfg); err != nil || !errors.Is(inner, ErrBuilding) {
		t.Errorf("%v, the other one: %v", err, inner)
	}
	left := filepath.Join(up, building+"more")
	w.must(os.MkdirAll(filepath.Join(left, "a", "b"), 0o700))
	w.must(os.Symlink(w.root, filepath.Join(left, "a", "link")))
	w.must(os.Chmod(filepath.Join(left, "a", "b"), 0))
	if _, err := Materialise(context.Background(), filepath.Join(up, "more"), w, target, w.config(mover{})); err != nil {
		t.Fatal(err)
	}
	w.has("f", "x")
	alone(t, up, "journals", "more", "new", "root")
}

// What a tree only names is named, and so is a path whose name the file system takes for another one's.
func TestWhatCannotBeMadeIsNamed(t *testing.T) {
	w := newWorld(t)
	w.write("Name", "upper").write("name", "lower").write(".git-not", "x")
	entries, err := tree.List(w, w.known())
	w.must(err)
	entries = append(entries, tree.Entry{Name: "big", Kind: tree.File, Flags: tree.Skipped, Size: 9}, tree.Entry{Name: "pipe", Kind: tree.Other},
		tree.Entry{Name: "node_modules", Kind: tree.Dir, Flags: tree.Skipped}, tree.Entry{Name: ".git", Kind: tree.Link, Target: "x"})
	target := w.keep(mustEncode(t, entries...))
	to := filepath.Join(filepath.Dir(w.root), "new")
	cfg := w.config(mover{})
	cfg.Fault = func(step, at string) error {
		if step == "build-file" && at == "name" { // as where "Name" was made before and is the same
			return os.WriteFile(filepath.Join(filepath.Dir(to), building+"new", "name"), []byte("upper"), 0o600)
		}
		return nil
	}
	made, err := Materialise(context.Background(), to, w, target, cfg)
	w.must(err)
	got := map[string]bool{}
	for _, k := range made.Kept {
		got[fmt.Sprint(k.Path, ": ", k.Why, k.With)] = true
	}
	for _, want := range []string{"big: " + string(NotStored), "pipe: " + string(NotStored), "node_modules: " + string(NotStored), ".git: " + string(OffLimits), "name: " + string(Collides) + "Name"} {
		if !got[want] || len(got) != 5 {
			t.Errorf("%q is not among %v", want, got)
		}
	}
}
