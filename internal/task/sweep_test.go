package task

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Goal: what a Prepare or a Remove left half-done goes with its act, or with the next holder of its session, whatever
// the home is called, and nothing else goes.
func TestSweep(t *testing.T) {
	b := newBench(t)
	b.Dir += "/[x]*?{a,b}\\"
	ctx := context.Background()
	for _, act := range []string{"a", "a.5", "b"} {
		if err := b.Prepare(ctx, b.script(act, "true")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".new.a.77.1", ".new.a.5.77.1", ".new.b.77.2", ".removed.c"} {
		if err := os.MkdirAll(filepath.Join(b.Dir, testSession, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(filepath.Join(b.Dir, testSession))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if err := b.Remove(testSession, "a"); err != nil {
		t.Fatal(err)
	}
	if want := []string{".new.a.5.77.1", ".new.b.77.2", ".removed.c", "a.5", "b"}; !slices.Equal(left(), want) {
		t.Errorf("after the removal of a: %q, want %q", left(), want)
	}
	for range 2 {
		if err := b.Sweep(testSession); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a.5", "b"}; !slices.Equal(left(), want) {
			t.Errorf("swept: %q, want %q", left(), want)
		}
	}
	if err := b.Sweep("nobody"); err != nil {
		t.Error(err)
	}
	if err := b.Sweep("../x"); !errors.Is(err, ErrInvalid) {
		t.Errorf("sweep of a path: %v", err)
	}
}
