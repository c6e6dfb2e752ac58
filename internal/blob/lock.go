package blob

import (
	"context"
	"errors"
	"io"
	"time"
)

// Batches hold the lock "lock" shared, a step of Sweep holds it alone. A batch passes "gate" before, so that Sweep is not
// kept out by batches that overlap; it shuts the gate only for a moment at a time. "sweep" is held by the one that sweeps.
const (
	lockName  = "lock"
	gateName  = "gate"
	sweepName = "sweep"

	gateTime = 500 * time.Millisecond // how long Sweep shuts the gate while batches are open
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

// alone takes the lock of a step of Sweep: no batch is open until it is given back.
func (s *Store) alone(ctx context.Context) (io.Closer, error) {
	for {
		l, err := s.shutGate(ctx)
		if l != nil || err != nil {
			return l, err
		}
		t := time.NewTimer(gateTime / 4)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
	}
}

func (s *Store) shutGate(ctx context.Context) (io.Closer, error) {
	gate, err := s.wait(ctx, gateName, true)
	if err != nil {
		return nil, err
	}
	brief, cancel := context.WithTimeout(ctx, gateTime)
	defer cancel()
	l, err := s.wait(brief, lockName, true)
	if err != nil {
		_ = gate.Close()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, nil
		}
		return nil, err
	}
	return both{l, gate}, nil
}

// both gives back two locks.
type both [2]io.Closer

func (b both) Close() error { return errors.Join(b[0].Close(), b[1].Close()) }
