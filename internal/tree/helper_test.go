package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"pgregory.net/rapid"
)

// objects is a Reader in memory that counts what is read.
type objects struct {
	by    map[store.Digest][]byte
	reads map[store.Digest]int
}

func newObjects() *objects {
	return &objects{by: map[store.Digest][]byte{}, reads: map[store.Digest]int{}}
}

func (o *objects) Get(d store.Digest) ([]byte, error) {
	o.reads[d]++
	b, ok := o.by[d]
	if !ok {
		return nil, fmt.Errorf("no object %s", d)
	}
	return b, nil
}

func (o *objects) put(entries []Entry) store.Digest {
	b, err := Encode(entries)
	if err != nil {
		panic(err)
	}
	d := store.Sum(b)
	o.by[d] = b
	return d
}

// model is a tree as a plain map: each path with its entry, whose Digest says nothing for directories.
type model map[string]Entry

// add puts an entry at a path and makes the directories above it.
func (m model) add(path string, e Entry) model {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		if up, ok := m[path[:i]]; !ok || up.Kind != Dir {
			m.add(path[:i], Entry{Kind: Dir, Mode: 0o755})
		}
	}
	m[path] = e
	return m
}

// remove takes a path away with everything below.
func (m model) remove(path string) {
	for p := range m {
		if p == path || strings.HasPrefix(p, path+"/") {
			delete(m, p)
		}
	}
}

func (m model) clone() model {
	c := model{}
	for p, e := range m {
		c[p] = e
	}
	return c
}

// write makes the objects of a model and gives the digest of its root.
func (m model) write(o *objects) store.Digest { return m.writeDir(o, "") }

func (m model) writeDir(o *objects, dir string) store.Digest {
	var entries []Entry
	for p, e := range m {
		up, name := "", p
		if i := strings.LastIndexByte(p, '/'); i >= 0 {
			up, name = p[:i], p[i+1:]
		}
		if up != dir {
			continue
		}
		e.Name = name
		if e.Kind == Dir && !e.Flags.Has(Skipped) {
			e.Digest = m.writeDir(o, p)
		}
		entries = append(entries, e)
	}
	return o.put(entries)
}

func (m model) paths() []string {
	var all []string
	for p := range m {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

func file(content string) Entry {
	return Entry{Kind: File, Mode: 0o644, Size: int64(len(content)), MTime: 1, Digest: store.Sum([]byte(content))}
}

// anyEntry draws an entry without a name; directories without a digest.
func anyEntry(t *rapid.T) Entry {
	switch Kind(rapid.IntRange(1, 4).Draw(t, "kind")) {
	case Dir:
		return Entry{Kind: Dir, Mode: rapid.SampledFrom([]uint32{0o755, 0o700}).Draw(t, "mode")}
	case Link:
		return Entry{Kind: Link, Mode: 0o777, Target: rapid.SampledFrom([]string{"x", "../y"}).Draw(t, "target")}
	case Other:
		return Entry{Kind: Other, Mode: 0o600}
	}
	e := file(rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "content"))
	e.Mode = rapid.SampledFrom([]uint32{0o644, 0o755}).Draw(t, "mode")
	e.MTime = rapid.Int64Range(0, 3).Draw(t, "mtime")
	if rapid.IntRange(0, 9).Draw(t, "skip") == 0 {
		e.Flags, e.Digest = Skipped, store.Digest{}
	}
	return e
}

// change does a few things to a model: puts, removes and replaces.
func (m model) change(t *rapid.T) {
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		path := anyPath(t)
		if e := anyEntry(t); rapid.IntRange(0, 2).Draw(t, "what") > 0 {
			if e.Kind != Dir || m[path].Kind != Dir {
				m.remove(path)
			}
			for i, c := range path { // what is in the way of its directories
				if c == '/' && m[path[:i]].Kind != Dir {
					m.remove(path[:i])
				}
			}
			m.add(path, e)
		} else {
			m.remove(path)
		}
	}
}

func anyPath(t *rapid.T) string {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c-", "\xff"}), 1, 3).Draw(t, "path")
	return strings.Join(names, "/")
}

// walked gives what Walk visits, in its order.
func walked(t testing.TB, r Reader, root store.Digest) (paths []string, at map[string]Entry) {
	at = map[string]Entry{}
	if err := Walk(r, root, func(p string, e Entry) error {
		paths, at[p] = append(paths, p), e
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return paths, at
}
