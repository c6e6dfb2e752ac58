package blob

import (
	"context"
	"io"
	"time"
)

// Batches hold the lock "lock" shared, a step of Sweep holds it alone. A batch passes "gate" before, so that Sweep is not
// kept out by batches that overlap; it shuts the gate only for a moment at a time. "sweep" is held by the one that sweeps.
const (
	lockName  = "lock"
	gateName  = "gate"
	sweepName = "sweep"

	pollMost = 20 * time.Millisecond
)

// wait polls a lock until it is taken or the context is done.
func (s *Store) wait(ctx context.Context, name string, exclusive bool) (io.Closer, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, pollMost) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := s.disk.lock(name, exclusive)
		if l != nil || err != nil {
			return l, err
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

// share takes the lock of a batch.
func (s *Store) share(ctx context.Context) (io.Closer, error) {
	for {
		gate, err := s.wait(ctx, gateName, false)
		if err != nil {
			return nil, err
		}
		l, err := s.disk.lock(lockName, false)
		_ = gate.Close()
		if l != nil || err != nil {
			return l, err
		}
	}
}
