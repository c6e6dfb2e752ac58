package homes_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/homes"
)

// lined writes a text of 120 KiB that does not compress, with the given first and last line.
func lined(t *testing.T, dir, first, last string) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString(first + "\n")
	for b.Len() < 120<<10 {
		line := make([]byte, 50)
		for i := range line {
			line[i] = byte(128 + r.IntN(128))
		}
		b.Write(append(line, '\n'))
	}
	b.WriteString(last + "\n")
	if err := os.WriteFile(filepath.Join(dir, "lined"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file whose different lines both sides have changed gets what both made of it. What it is then lies in no tree until the
// apply is over: a kill and a sweep in between take it from nobody, and afterwards it goes.
func TestJoinedLinesOutliveAKillAndASweep(t *testing.T) {
	for _, at := range []string{"apply started", "apply finished"} {
		a := newApplied(t)
		lined(t, a.dir, "first", "last")
		h := a.open("")
		spec := a.spec()
		spec.ID = "lines"
		own, err := h.CreateIsolated(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		lined(t, own.Dir, "of the kid", "last")
		mine := lined(t, a.dir, "first", "mine")
		a.close(h)
		a.dies(at, func(h *homes.Home) { a.applyOf(h, "lines") })
		h = a.open("")
		if err := h.Delete(t.Context(), "lines", "kid"); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		r, err := h.SettleApply(t.Context(), a.dir, false)
		if err != nil || r == nil || r.Modified != 1 || r.Conflicts != 0 {
			t.Fatalf("%s: %+v, %v", at, r, err)
		}
		got, err := os.ReadFile(filepath.Join(a.dir, "lined"))
		if want := lined(t, t.TempDir(), "of the kid", "mine"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %.20q … %q, %v", at, len(got), got, got[max(0, len(got)-8):], err)
		}
		a.unapply(h)
		if got, err := os.ReadFile(filepath.Join(a.dir, "lined")); err != nil || !bytes.Equal(got, mine) {
			t.Errorf("%s, taken back: %d bytes, %v", at, len(got), err)
		}
		a.close(h)
	}
}

// A plan that is only shown keeps nothing of what it would make.
func TestAPlanKeepsNothingOfWhatItJoins(t *testing.T) {
	a := newApplied(t)
	lined(t, a.dir, "first", "last")
	h := a.open("")
	spec := a.spec()
	spec.ID = "lines"
	own, err := h.CreateIsolated(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	lined(t, own.Dir, "of the kid", "last")
	lined(t, a.dir, "first", "mine")
	b, err := h.Branch(t.Context(), "lines")
	if err != nil {
		t.Fatal(err)
	}
	plan := func() {
		p, err := h.PlanApply(t.Context(), &b, "", a.dir, false)
		if err != nil || len(p.Changes) != 1 || !p.Changes[0].Joined || len(p.Kept) != 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		p.Release()
	}
	plan()
	before := blobBytes(t, a.home)
	plan()
	if now := blobBytes(t, a.home); now != before {
		t.Errorf("%d bytes, before %d", now, before)
	}
	b.Release()
	a.close(h)
}

func blobBytes(t *testing.T, home string) (n int64) {
	t.Helper()
	err := filepath.Walk(filepath.Join(home, "blobs"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatal(fmt.Sprint(n), err)
	}
	return n
}
