package tree

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"pgregory.net/rapid"
)

// merged gives the steps of a merge of three models, by path, and the model that comes out.
func merged(t interface{ Fatal(...any) }, base, mine, theirs model) (map[string]Step, model) {
	o, steps, out := newObjects(), map[string]Step{}, mine.clone()
	if err := Merge(o, base.write(o), mine.write(o), theirs.write(o), func(s Step) error {
		if _, twice := steps[s.Path]; twice {
			t.Fatal("twice: ", s.Path)
		}
		steps[s.Path] = s
		delete(out, s.Path)
		if e := s.Result(); e != nil {
			out[s.Path] = *e
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return steps, out
}

func (m model) at(path string) *Entry {
	if e, ok := m[path]; ok {
		return &e
	}
	return nil
}

func (m model) equal(o model) bool {
	return slices.Equal(m.paths(), o.paths()) && !slices.ContainsFunc(m.paths(), func(p string) bool { return !Same(m.at(p), o.at(p)) })
}

// Whatever two sides did: what comes out is a tree, no change of mine is lost, every change of theirs is taken or named,
// and a path that one side left alone and the other changed, with nothing else of either about, is as that other has it.
func TestAMergeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := model{}
		base.change(t)
		base.change(t)
		mine, theirs := base.clone(), base.clone()
		mine.change(t)
		theirs.change(t)
		steps, out := merged(t, base, mine, theirs)
		for _, p := range out.paths() {
			for i, c := range p {
				if c == '/' && (out[p[:i]].Kind != Dir || out[p[:i]].Flags.Has(Skipped)) {
					t.Fatalf("%q in the result lies below %q, which is no directory there", p, p[:i])
				}
			}
		}
		for _, p := range slices.Concat(base.paths(), mine.paths(), theirs.paths()) {
			b, m, h, r := base.at(p), mine.at(p), theirs.at(p), out.at(p)
			s, said := steps[p]
			if !Same(b, m) && !Same(r, m) && (m != nil || r.Kind != Dir) {
				t.Fatalf("%q: a change of mine is lost: %+v", p, s)
			}
			if !Same(b, h) && !Same(r, h) && s.Verb != Conflict && (h != nil || m.Kind != Dir) {
				t.Fatalf("%q: a change of theirs is neither taken nor named: %+v", p, s)
			}
			if said == (Same(b, m) && Same(b, h)) && !(said && (s.Why == FileDir || r != nil && r.Kind == Dir)) {
				t.Fatalf("%q: a step %v of what changed %v", p, said, !said)
			}
		}
	})
}

// One side alone is taken whole, a change that both made is one, and nothing of it is a conflict.
func TestAMergeOfOneSideIsThatSide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := model{}
		base.change(t)
		base.change(t)
		side := base.clone()
		side.change(t)
		for name, c := range map[string]struct {
			mine, theirs model
			verb         Verb
		}{"theirs": {base, side, Take}, "mine": {side, base, Keep}, "both": {side, side, Agree}} {
			steps, out := merged(t, base, c.mine, c.theirs)
			if !out.equal(side) {
				t.Fatalf("%s: %q, want %q", name, out.paths(), side.paths())
			}
			for p, s := range steps {
				if s.Verb != c.verb {
					t.Fatalf("%s: %q is %+v", name, p, s)
				}
			}
		}
	})
}

// Each way in which two sides can meet, with its word.
func TestEachMeetingHasItsWord(t *testing.T) {
	one, two, three := file("1"), file("2"), file("3")
	ex := one
	ex.Mode = 0o755
	link := Entry{Kind: Link, Target: "t"}
	type m = model
	for name, c := range map[string]struct {
		base, mine, theirs m
		want               string
	}{
		"theirs edits":              {m{"f": one}, m{"f": one}, m{"f": two}, "f take"},
		"theirs deletes":            {m{"f": one}, m{"f": one}, m{}, "f take"},
		"theirs makes it run":       {m{"f": one}, m{"f": one}, m{"f": ex}, "f take"},
		"theirs makes it a link":    {m{"f": one}, m{"f": one}, m{"f": link}, "f take"},
		"mine edits":                {m{"f": one}, m{"f": two}, m{"f": one}, "f keep"},
		"both edit alike":           {m{"f": one}, m{"f": two}, m{"f": two}, "f agree"},
		"both edit":                 {m{"f": one}, m{"f": two}, m{"f": three}, "f both changed"},
		"both make":                 {m{}, m{"f": two}, m{"f": three}, "f both changed"},
		"one edits, one sets x":     {m{"f": one}, m{"f": two}, m{"f": ex}, "f both changed"},
		"mine edits, theirs drops":  {m{"f": one}, m{"f": two}, m{}, "f changed/deleted"},
		"mine drops, theirs edits":  {m{"f": one}, m{}, m{"f": two}, "f deleted/changed"},
		"both drop":                 {m{"f": one}, m{}, m{}, "f agree"},
		"mine file, theirs dir":     {m{}, m{"x": one}, m{}.add("x/f", two), "x file/dir, x/f file/dir"},
		"mine dir, theirs file":     {m{}, m{}.add("x/f", one), m{"x": two}, "x file/dir, x/f keep"},
		"theirs replaces dir":       {m{}.add("x/f", one), m{}.add("x/f", one), m{"x": two}, "x take, x/f take"},
		"theirs moves":              {m{"a": one}, m{"a": one}, m{"b": one}, "a take, b take"},
		"dir dropped, mine new":     {m{}.add("x/f", one), m{}.add("x/f", one).add("x/g", two), m{}, "x keep, x/f take, x/g keep"},
		"dir dropped, mine edits":   {m{}.add("x/f", one), m{}.add("x/f", two), m{}, "x keep, x/f changed/deleted"},
		"mine dropped, theirs new":  {m{}.add("x/f", one), m{}, m{}.add("x/f", one).add("x/g", two), "x take, x/f keep, x/g take"},
		"replaced dir, mine edits":  {m{}.add("x/f", one).add("x/g", one), m{}.add("x/f", two).add("x/g", one), m{"x": three}, "x file/dir, x/f changed/deleted, x/g file/dir"},
		"mine replaces, theirs new": {m{}.add("x/f", one), m{"x": two}, m{}.add("x/f", one).add("x/g", three), "x file/dir, x/f keep, x/g file/dir"},
	} {
		steps, _ := merged(t, c.base, c.mine, c.theirs)
		var got []string
		for p, s := range steps {
			got = append(got, p+" "+word(s))
		}
		slices.Sort(got)
		if g := strings.Join(got, ", "); g != c.want {
			t.Errorf("%s: %s, want %s", name, g, c.want)
		}
	}
}

func word(s Step) string {
	if s.Verb == Conflict {
		return [...]string{"?", "both changed", "changed/deleted", "deleted/changed", "file/dir"}[s.Why]
	}
	return [...]string{"?", "take", "keep", "agree"}[s.Verb]
}

// A directory comes before what is in it, so that steps can be done in their order.
func TestStepsComeParentsFirst(t *testing.T) {
	o := newObjects()
	var got []string
	err := Merge(o, store.Digest{}, store.Digest{}, model{}.add("a/b/c", file("1")).add("a-", file("2")).write(o), func(s Step) error {
		got = append(got, s.Path)
		return nil
	})
	if want := []string{"a", "a/b", "a/b/c", "a-"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("steps %q, %v, want %q", got, err, want)
	}
}

// What all three have alike is not read.
func TestAMergeReadsOnlyWhatDiffers(t *testing.T) {
	o, m := newObjects(), model{}
	for i := range 100 {
		m.add(fmt.Sprintf("d%d/f", i), file(fmt.Sprint(i)))
	}
	base := m.write(o)
	mine := m.clone().add("d1/f", file("mine")).write(o)
	theirs := m.clone().add("d2/f", file("theirs")).write(o)
	n, stop := 0, errors.New("enough")
	if err := Merge(o, base, mine, theirs, func(Step) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d steps, %v", n, err)
	}
	if reads := len(o.reads); reads != 7 { // three roots, two states of two directories
		t.Errorf("%d objects were read, want 7", reads)
	}
	if err := Merge(o, base, mine, theirs, func(Step) error { return stop }); err != stop { //nolint:errorlint // as it is
		t.Errorf("ended by %v", err)
	}
}
