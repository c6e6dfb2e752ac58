package engine

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// wake returns a channel that fires when the earliest wake-up is due; nil if there is none.
func (s *awaits) wake() <-chan time.Time {
	now := s.eng.cfg.Now().UnixMilli()
	earliest := int64(-1)
	for _, a := range session.Next(s.state) {
		if w, ok := a.Do.(session.Wake); ok {
			if left := s.until(a.ID, w, now); earliest < 0 || left < earliest {
				earliest = left
			}
		}
	}
	if earliest < 0 {
		return nil
	}
	return time.After(time.Duration(earliest) * time.Millisecond)
}

// until is how long a wake-up is still away, in milliseconds. A retry that is further away than any delay was put there
// by a clock that has been set back since: it is due.
func (s *awaits) until(id string, w session.Wake, now int64) int64 {
	left := max(0, w.At-now)
	if m := s.state.NewestCall(); m != nil && id == session.WakeID(m.ID) && left > longestAsked.Milliseconds() {
		return 0
	}
	return left
}

// fireTimers appends timer.fired for every wake-up whose time has come.
func (s *awaits) fireTimers(ctx context.Context) error {
	now := s.eng.cfg.Now().UnixMilli()
	var fired []session.Body
	for _, a := range session.Next(s.state) {
		if w, ok := a.Do.(session.Wake); ok && s.until(a.ID, w, now) == 0 {
			fired = append(fired, &session.TimerFired{ID: a.ID})
		}
	}
	return s.append(ctx, engineActor, fired...)
}
