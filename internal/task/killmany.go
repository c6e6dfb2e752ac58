//go:build linux || darwin

package task

import (
	"context"
	"sync"
)

// maxKills is how many kills go on at once.
const maxKills = 16

// KillAll is Kill for many commands at once, so that one which takes its time keeps nobody waiting. The errors are in
// the order of the targets, nil for those that are gone.
func (r *Runner) KillAll(ctx context.Context, targets []Target, by string) []error {
	errs := make([]error, len(targets))
	free := make(chan struct{}, maxKills)
	var all sync.WaitGroup
	for i, target := range targets {
		free <- struct{}{}
		all.Go(func() {
			errs[i] = r.Kill(ctx, target.Session, target.Act, by)
			<-free
		})
	}
	all.Wait()
	return errs
}
