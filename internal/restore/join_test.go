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
