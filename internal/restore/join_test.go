package restore

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/perdure/perdure/internal/tree"
)

// Whoever interrupts a plan waits for one text at most that is brought together, not for all of them.
func TestAPlanThatJoinsManyTextsIsInterrupted(t *testing.T) {
	w := newWorld(t)
	all := func(text string) {
		for i := range 50 {
			w.write(fmt.Sprint(i), text)
		}
	}
	all("one")
	target := w.known()
	all("two")
	w.known()
	all("three")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	joined := 0
	_, err := Make(ctx, Input{Root: w.root, Trees: w, Base: w.base, Now: w.capture(), Target: target, Join: func(_, _, _ *tree.Entry) (*tree.Entry, error) {
		joined++
		cancel()
		return nil, nil //nolint:nilnil // it is a conflict
	}})
	if !errors.Is(err, context.Canceled) || joined != 1 {
		t.Errorf("after %d texts: %v", joined, err)
	}
}

// The wanted version lies beside a file that stays once, however often it is wanted; where that copy was changed, or is the
// session's own and goes, there is another one.
func TestAVersionBesideAFileIsNotPutThereTwice(t *testing.T) {
	w := newWorld(t)
	w.write("f", "wanted").link("wanted", "l")
	target := w.known()
	w.write("f", "of the session").remove("l").link("session", "l")
	w.known()
	w.write("f", "of somebody else").remove("l").link("other", "l")
	base := w.base
	for range 3 {
		w.base = base
		_, r := w.restore(target)
		if len(r.Kept) != 2 || r.Kept[0].Copy != "f.perdure-conflict" || r.Kept[1].Copy != "l.perdure-conflict" {
			t.Errorf("kept %+v", r.Kept)
		}
		w.has("f", "of somebody else")
		w.has("f.perdure-conflict", "wanted")
		w.lacks("f.perdure-conflict-2")
		w.lacks("l.perdure-conflict-2")
	}
	w.write("f.perdure-conflict", "wanted, and more")
	w.base = base
	w.restore(target)
	w.has("f.perdure-conflict", "wanted, and more")
	w.has("f.perdure-conflict-2", "wanted")
	w.lacks("l.perdure-conflict-2")

	w.write("f", "of the session").write("f.perdure-conflict", "wanted").remove("f.perdure-conflict-2")
	w.known()
	w.write("f", "of somebody else")
	_, r := w.restore(target)
	w.has(r.Kept[0].Copy, "wanted")
}
