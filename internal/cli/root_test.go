package cli_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/cli"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// One process may run several commands at a time, as a test or a server does.
func TestTreesAtOnce(t *testing.T) {
	w := clitest.New(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				app := *w.App
				app.Stdout, app.Stderr = io.Discard, io.Discard
				if code := cli.Main(context.Background(), &app, []string{"--help"}); code != 0 {
					t.Errorf("perdure --help: exit %d", code)
				}
			}
		})
	}
	wait.Wait()
}
