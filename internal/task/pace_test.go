//go:build linux || darwin

package task

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	type wake struct {
		times int
		after time.Duration // since the FIFO was last empty
		moved int
	}
	for name, c := range map[string]struct {
		wakes          []wake
		paused, busy   int
		pausesAtTheEnd bool
	}{
		"quiet":               {wakes: []wake{{100, time.Second, 80}}},
		"one burst":           {wakes: []wake{{10, 0, 80}, {1, time.Second, 80}}},
		"blocks":              {wakes: []wake{{100, 0, 4 << 10}}, busy: 1},
		"lines":               {wakes: []wake{{50, 0, 80}}, paused: 34, busy: 1, pausesAtTheEnd: true},
		"looks again":         {wakes: []wake{{81, 0, 80}, {16, 0, 80}}, paused: 65, busy: 1, pausesAtTheEnd: true},
		"becomes blocks":      {wakes: []wake{{81, 0, 80}, {100, 0, 4 << 10}}, paused: 65, busy: 1},
		"lines, then silence": {wakes: []wake{{50, 0, 80}, {2, time.Second, 80}}, paused: 35, busy: 1},
		"two bursts":          {wakes: []wake{{20, 0, 80}, {1, time.Second, 80}, {16, 0, 80}}, paused: 5, busy: 2, pausesAtTheEnd: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, now, paused, busy := pace{}, time.Unix(1000, 0), 0, 0
			p.emptied = now
			for _, w := range c.wakes {
				for range w.times {
					if p.pause() > 0 {
						paused++
					}
					now = now.Add(w.after)
					if p.emptying(now, now, w.moved) {
						busy++
					}
				}
			}
			if ends := p.pause() > 0; paused != c.paused || busy != c.busy || ends != c.pausesAtTheEnd {
				t.Errorf("%d pauses, busy %d times, pauses at the end %v; want %+v", paused, busy, ends, c)
			}
		})
	}
}
