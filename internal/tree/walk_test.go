package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"pgregory.net/rapid"
)

// A walk visits exactly what was written, parents first, and each path is found with the same entry.
func TestWalkAndFindSeeWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, o := model{}, newObjects()
		m.change(rt)
		m.change(rt)
		root := m.write(o)
		paths, at := walked(t, o, root)
		if len(paths) != len(m) {
			rt.Fatalf("visited %q, want %q", paths, m.paths())
		}
		seen := map[string]bool{"": true}
		for _, p := range paths {
			if i := strings.LastIndexByte(p, '/'); i >= 0 && !seen[p[:i]] {
				rt.Fatalf("%q before its directory", p)
			}
			seen[p] = true
			want, got := m[p], at[p]
			if !Same(&want, &got) {
				rt.Fatalf("%q is %+v, want %+v", p, got, want)
			}
			if found, err := Find(o, root, p); err != nil || found != got {
				rt.Fatalf("%q is found as %+v, %v", p, found, err)
			}
		}
		if p := anyPath(rt); !seen[p] {
			if _, err := Find(o, root, p); !errors.Is(err, fs.ErrNotExist) {
				rt.Fatalf("%q is not there and was found: %v", p, err)
			}
		}
	})
}

// A visit may end the walk or leave a directory out; skipped directories have nothing in them.
func TestAVisitSteers(t *testing.T) {
	m, o := model{}, newObjects()
	m.add("a/b", file("x")).add("c", Entry{Kind: Dir, Flags: Skipped, Mode: 0o755}).add("d", file("y"))
	root := m.write(o)
	var got []string
	err := Walk(o, root, func(p string, _ Entry) error {
		got = append(got, p)
		if p == "a" {
			return SkipDir
		}
		return nil
	})
	if want := []string{"a", "c", "d"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("visited %q, %v, want %q", got, err, want)
	}
	stop := errors.New("enough")
	if err := Walk(o, root, func(string, Entry) error { return stop }); err != stop { //nolint:errorlint // as it is
		t.Errorf("ended by %v", err)
	}
	for _, dir := range []store.Digest{{}, o.put(nil)} {
		if paths, _ := walked(t, o, dir); len(paths) != 0 {
			t.Errorf("the empty tree has %q", paths)
		}
	}
}

// Sixty objects that each name the one below twice spell a tree of 2^60 files. Nothing follows it to its end.
func TestATreeOfManyFilesInFewBytesIsRefused(t *testing.T) {
	o := newObjects()
	bomb := func(leaf string) store.Digest {
		e := file(leaf)
		e.Name = "leaf"
		d := o.put([]Entry{e})
		for range 60 {
			d = o.put([]Entry{{Name: "l", Kind: Dir, Digest: d}, {Name: "r", Kind: Dir, Digest: d}})
		}
		return d
	}
	one, two := bomb("x"), bomb("y")
	visits := 0
	err := WalkMax(o, one, 1000, func(string, Entry) error { visits++; return nil })
	if !errors.Is(err, ErrTooLarge) || visits > 1000 {
		t.Errorf("%d visits, %v", visits, err)
	}
	if err := DiffMax(o, one, two, 1000, func(Change) error { return nil }); !errors.Is(err, ErrTooLarge) {
		t.Errorf("diff: %v", err)
	}
	if err := MergeMax(o, store.Digest{}, one, two, 1000, func(Step) error { return nil }); !errors.Is(err, ErrTooLarge) {
		t.Errorf("merge: %v", err)
	}
	if err := Diff(o, one, one, func(Change) error { return nil }); err != nil {
		t.Errorf("equal trees need no look: %v", err)
	}
}

// Directories may lie in each other a thousand deep, no deeper, and no path is longer than its bound.
func TestDepthAndPathsAreBounded(t *testing.T) {
	for _, c := range []struct {
		name  string
		depth int
		want  error
	}{{"d", MaxDepth, nil}, {"d", MaxDepth + 1, ErrTooLarge}, {strings.Repeat("n", MaxName), 40, ErrTooLarge}} {
		o := newObjects()
		d := o.put(nil)
		for range c.depth {
			d = o.put([]Entry{{Name: c.name, Kind: Dir, Digest: d}})
		}
		err := Walk(o, d, func(string, Entry) error { return nil })
		if !errors.Is(err, c.want) {
			t.Errorf("%d times %.5q: %v, want %v", c.depth, c.name, err, c.want)
		}
	}
}

// A missing object and a broken one are told with the path of their directory.
func TestWhatCannotBeReadIsNamed(t *testing.T) {
	o := newObjects()
	o.by[store.Sum(nil)] = []byte("junk")
	for _, d := range []store.Digest{store.Sum(nil), store.Sum([]byte("gone"))} {
		inner := o.put([]Entry{{Name: "in", Kind: Dir, Digest: d}})
		root := o.put([]Entry{{Name: "out", Kind: Dir, Digest: inner}})
		err := Walk(o, root, func(string, Entry) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `"out/in"`) {
			t.Errorf("%v", err)
		}
	}
}

// Paths that are none lead nowhere.
func TestFindTakesNoWayOut(t *testing.T) {
	o := newObjects()
	m := model{}
	root := m.add("a/b", file("x")).add("l", Entry{Kind: Link, Target: "a"}).write(o)
	for _, p := range []string{"/a", "a/", "a//b", "./a", "../a", "a/../a", "l/b", "a/b/c", "A", "\x00"} {
		if e, err := Find(o, root, p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q is %+v, %v", p, e, err)
		}
	}
	if e, err := Find(o, root, ""); err != nil || e.Kind != Dir || e.Digest != root {
		t.Errorf("the tree itself is %+v, %v", e, err)
	}
}

func BenchmarkDecode(b *testing.B) {
	var entries []Entry
	for i := range 1000 {
		e := file(fmt.Sprint(i))
		e.Name = fmt.Sprintf("file%d.go", i)
		entries = append(entries, e)
	}
	enc, err := Encode(entries)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(enc)))
	for b.Loop() {
		if _, err := Decode(enc); err != nil {
			b.Fatal(err)
		}
	}
}
