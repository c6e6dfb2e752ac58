package linemerge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Beyond some fifty changes a side is compared only roughly. Then less is brought together, but nothing is lost or comes
// from nowhere.
func TestManyChangesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	many := func(lines []string, by string, from, to int) []string {
		out := slices.Clone(lines)
		for n := range 40 + r.IntN(100) {
			at := from + r.IntN(to-from)
			switch fresh := fmt.Sprintf("%s %d", by, n); {
			case r.IntN(3) == 0:
				out = slices.Insert(out, at, fresh)
			case r.IntN(2) == 0 && to < len(out):
				out = slices.Delete(out, at, at+1)
			default:
				out[at] = fresh
			}
		}
		return out
	}
	clean := 0
	for n := range 120 {
		var base []string
		for i := range 2000 {
			if base = append(base, fmt.Sprint("line ", i)); n%2 == 1 {
				base[i] = fmt.Sprint("line ", i%7) // many are alike
			}
		}
		mine, theirs := text(many(base, "mine", 0, 900)), text(many(base, "theirs", 1100, 1800))
		if got, ok := Merge(text(base), mine, text(base)); !ok || got != mine {
			t.Fatalf("%d: only mine has changes: %v, %d bytes, want %d", n, ok, len(got), len(mine))
		}
		if got, ok := Merge(text(base), text(base), theirs); !ok || got != theirs {
			t.Fatalf("%d: only theirs has changes: %v, %d bytes, want %d", n, ok, len(got), len(theirs))
		}
		got, ok := Merge(text(base), mine, theirs)
		if !ok {
			continue
		}
		clean++
		args := []string{"merge-file", "-p", "-q"}
		for i, s := range []string{mine, text(base), theirs} {
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(name, []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		if want, err := exec.Command("git", args...).Output(); err == nil && got != string(want) {
			t.Fatalf("%d: %d bytes, git has %d", n, len(got), len(want))
		}
	}
	if clean < 10 {
		t.Errorf("%d merged: this shows too little", clean)
	}
}
