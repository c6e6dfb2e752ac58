package tree

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/perdure/perdure/store"
	"pgregory.net/rapid"
)

// Diff says what a plain comparison of two maps says, in order, and applying it leads from one to the other.
func TestDiffIsWhatAPlainComparisonSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := model{}
		a.change(t)
		a.change(t)
		b := a.clone()
		b.change(t)
		o := newObjects()
		var got []string
		if err := Diff(o, a.write(o), b.write(o), func(c Change) error {
			got = append(got, c.Path)
			before, had := a[c.Path]
			after, has := b[c.Path]
			if had != (c.Before != nil) || has != (c.After != nil) || had && !Same(&before, c.Before) || has && !Same(&after, c.After) {
				t.Fatalf("%q: %+v to %+v", c.Path, c.Before, c.After)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var want []string
		for p, e := range a {
			if f, ok := b[p]; !ok || !Same(&e, &f) {
				want = append(want, p)
			}
		}
		for p := range b {
			if _, ok := a[p]; !ok {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		sorted := slices.Sorted(slices.Values(got))
		if !slices.Equal(sorted, want) {
			t.Fatalf("changes at %q, want %q", got, want)
		}
	})
}

// Two trees that differ in one file are compared by reading the directories above it, and each of them once.
func TestDiffReadsOnlyWhatDiffers(t *testing.T) {
	o, m := newObjects(), model{}
	for i := range 300 {
		m.add(fmt.Sprintf("d%d/e%d/f", i%10, i%30), file(fmt.Sprint(i)))
	}
	a := m.write(o)
	m.add("d3/e3/f", file("edited"))
	b := m.write(o)
	var got []Change
	if err := Diff(o, a, b, func(c Change) error { got = append(got, c); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Path != "d3/e3/f" || got[0].After.Digest != store.Sum([]byte("edited")) {
		t.Errorf("changes %+v", got)
	}
	reads := 0
	for _, n := range o.reads {
		reads += n
	}
	if reads != 6 { // three directories of each tree
		t.Errorf("%d objects were read, want 6 of %d", reads, len(o.by))
	}
}

// A file that was only touched is no change; one whose content is not kept is, since there is nothing else to tell by.
func TestTimesAloneAreNoChange(t *testing.T) {
	o := newObjects()
	touched := file("x")
	touched.MTime = 99
	skipped, later := Entry{Kind: File, Flags: Skipped, Size: 7, MTime: 1}, Entry{Kind: File, Flags: Skipped, Size: 7, MTime: 2}
	a := model{}.add("d/f", file("x")).add("s", skipped).write(o)
	b := model{}.add("d/f", touched).add("s", later).write(o)
	var got []string
	if err := Diff(o, a, b, func(c Change) error { got = append(got, c.Path); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"s"}) {
		t.Errorf("changes at %q", got)
	}
}

// A file in the place of a directory is told with all that went with the directory.
func TestAKindThatChangesIsToldWhole(t *testing.T) {
	o := newObjects()
	a := model{}.add("x/y/z", file("1")).write(o)
	b := model{}.add("x", file("2")).write(o)
	for _, c := range []struct {
		a, b store.Digest
		want []string
	}{
		{a, b, []string{"x dir-file", "x/y dir-", "x/y/z file-"}},
		{b, a, []string{"x file-dir", "x/y -dir", "x/y/z -file"}},
		{store.Digest{}, a, []string{"x -dir", "x/y -dir", "x/y/z -file"}},
	} {
		word := func(e *Entry) string {
			switch {
			case e == nil:
				return ""
			case e.Kind == Dir:
				return "dir"
			}
			return "file"
		}
		var got []string
		if err := Diff(o, c.a, c.b, func(c Change) error {
			got = append(got, c.Path+" "+word(c.Before)+"-"+word(c.After))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("changes %q, want %q", got, c.want)
		}
	}
}

// The first error of a visit ends the comparison.
func TestAVisitEndsADiff(t *testing.T) {
	o, stop, n := newObjects(), errors.New("enough"), 0
	a := model{}.add("a", file("1")).add("b", file("2")).write(o)
	err := Diff(o, store.Digest{}, a, func(Change) error { n++; return stop })
	if err != stop || n != 1 { //nolint:errorlint // as it is
		t.Errorf("%d visits, %v", n, err)
	}
}
