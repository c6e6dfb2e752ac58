package engine

import (
	"context"
	"sync"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// When work on files is told about: most is over before.
const (
	showAfter = time.Second
	showEvery = 500 * time.Millisecond
)

// showFiles tells those who watch how far work on files is that takes long, until the function that it gives is called.
func (s *files) showFiles(ctx context.Context, dir string) (over func()) {
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
			if text := p.Progress(dir); text != "" {
				s.observe(Update{Session: s.lease.Session, Kind: session.FilesUpdate, Text: text})
			}
		}
	})
	return func() { cancel(); running.Wait() }
}
