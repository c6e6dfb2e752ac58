package cli

import (
	"context"
	"io"
	"sync"
	"testing"
)

// One process may run several commands at a time, as a test or a server does.
func TestTreesAtOnce(t *testing.T) {
	w := newWorld(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				app := *w.app
				app.Stdout, app.Stderr = io.Discard, io.Discard
				if code := Main(context.Background(), &app, []string{"--help"}); code != 0 {
					t.Errorf("perdure --help: exit %d", code)
				}
			}
		})
	}
	wait.Wait()
}
