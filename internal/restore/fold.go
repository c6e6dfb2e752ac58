//go:build unix

package restore

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/perdure/perdure/internal/tree"
)

// Folding says which names a file system takes for one.
type Folding struct {
	Case bool // a and A
	Norm bool // é as one character and as two
}

// key is alike for names that are one.
func (f Folding) key(name string) string {
	if f.Norm {
		name = norm.NFC.String(name)
	}
	if f.Case {
		name = strings.ToLower(strings.ToUpper(name))
	}
	return name
}

// Probe finds out how a directory's file system folds names, without writing: it asks for names that are there in
// another spelling. Where no name can tell, the answer is that nothing is folded; the steps of a restore see a taken
// name all the same.
func Probe(root string) Folding {
	d, err := openRoot(root)
	if err != nil {
		return Folding{}
	}
	defer d.close()
	names, _ := d.names(1000)
	slices.Sort(names)
	f := Folding{Case: oneFile(d, names, flip), Norm: oneFile(d, names, respell)}
	up, err := openRoot(path.Dir(root))
	if err != nil {
		return f
	}
	defer up.close()
	own := []string{path.Base(root)}
	return Folding{Case: f.Case || oneFile(up, own, flip), Norm: f.Norm || oneFile(up, own, respell)}
}

// oneFile reports whether the first name that has another spelling leads to the same file by it.
func oneFile(d *dir, names []string, respelled func(string) string) bool {
	for _, name := range names {
		other := respelled(name)
		if other == name || slices.Contains(names, other) {
			continue
		}
		a, err := d.look(name)
		b, berr := d.look(other)
		return err == nil && berr == nil && a.kind != 0 && b.kind != 0 && a.ino == b.ino && a.dev == b.dev
	}
	return false
}

func flip(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsUpper(r):
			return unicode.ToLower(r)
		case unicode.IsLower(r):
			return unicode.ToUpper(r)
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}

func respell(name string) string {
	if norm.NFC.IsNormalString(name) {
		return norm.NFD.String(name)
	}
	return norm.NFC.String(name)
}

// collisions takes back what would put two names where the file system has one: both paths stay, and each names the other.
func (b *planner) collisions(ctx context.Context) error {
	probe := b.in.Fold
	if probe == nil {
		probe = Probe
	}
	var fold *Folding
	fresh := map[string][]string{} // names that come, by directory
	for p, o := range b.ops {
		if up, name := split(p); o.To != nil && o.From == nil {
			fresh[up] = append(fresh[up], name)
		}
	}
	for _, up := range slices.Sorted(maps.Keys(fresh)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		names, err := b.after(up, fresh[up])
		if err != nil {
			return err
		}
		for _, pair := range pairs(names, Folding{Case: true, Norm: true}) {
			if fold == nil { // it is asked only where the answer matters
				f := probe(b.in.Root)
				fold = &f
			}
			if fold.key(pair[0]) == fold.key(pair[1]) {
				b.collide(tree.Join(up, pair[0]), tree.Join(up, pair[1]))
			}
		}
	}
	return nil
}

// after lists the names that a directory would have with those that come.
func (b *planner) after(up string, names []string) ([]string, error) {
	e, err := tree.Find(b.in.Trees, b.in.Now, up)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && e.Kind == tree.Dir {
		entries, err := tree.List(b.in.Trees, e.Digest)
		if err != nil {
			return nil, err
		}
		for i := range entries {
			if o, ok := b.ops[tree.Join(up, entries[i].Name)]; !ok || o.To != nil {
				names = append(names, entries[i].Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// pairs gives the names that a folding takes for one, each with the first of them.
func pairs(names []string, f Folding) [][2]string {
	first, out := map[string]string{}, [][2]string(nil)
	for _, name := range names {
		k := f.key(name)
		if other, ok := first[k]; ok {
			out = append(out, [2]string{other, name})
		} else {
			first[k] = name
		}
	}
	return out
}

func (b *planner) collide(x, y string) {
	for _, pair := range [][2]string{{x, y}, {y, x}} {
		if !slices.ContainsFunc(b.kept, func(k Kept) bool { return k.Path == pair[0] && k.Why == Collides }) {
			b.kept = append(b.kept, Kept{Path: pair[0], Why: Collides, With: pair[1]})
		}
		for p := range b.ops {
			if within(p, pair[0]) {
				delete(b.ops, p)
			}
		}
	}
}
