package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// When a capture is told about: most are over before.
const (
	showAfter = time.Second
	showEvery = 500 * time.Millisecond
)

// showCapture tells those who watch how far a capture is that takes long, until the function that it gives is called.
func (s *files) showCapture(ctx context.Context, dir string) (over func()) {
	p, ok := s.eng.cfg.Captures.(Progress)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for wait := showAfter; ; wait = showEvery {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			files, bytes := p.Progress(dir)
			s.observe(Update{Session: s.lease.Session, Kind: session.FilesUpdate, Text: fmt.Sprintf("%d files, %d MB", files, bytes>>20)})
		}
	})
	return func() { cancel(); running.Wait() }
}
