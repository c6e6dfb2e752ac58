package sqlite

import (
	"testing"
	"time"
)

// TestLooksKeepTheirShare: looks follow each other at once after a rest, and take a fiftieth of a processor over time.
func TestLooksKeepTheirShare(t *testing.T) {
	const took = 200 * time.Microsecond
	now := time.UnixMilli(0).Add(time.Hour)
	var p pace
	look := func() time.Duration {
		began := now
		now = now.Add(took)
		return p.pause(began, now)
	}
	for i := range 20 {
		pause := look()
		if pause != lookPause {
			t.Fatalf("look %d after a rest: a pause of %s", i, pause)
		}
		now = now.Add(pause)
	}
	began := now
	for range 1000 {
		now = now.Add(look())
	}
	if all, least := now.Sub(began), 1000*lookShare*took-lookBurst; all < least {
		t.Errorf("1,000 looks of %s in %s; at least %s", took, all, least)
	}
	now = now.Add(lookBurst + time.Second)
	if pause := look(); pause != lookPause {
		t.Errorf("after another rest: a pause of %s", pause)
	}
}
