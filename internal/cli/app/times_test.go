package app

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	a := &App{Now: func() time.Time { return now }}
	for ago, want := range map[int64]string{0: "now", 5_000: "5s", 180_000: "3m", 7_200_000: "2h", 172_800_000: "2d", -5: "now"} {
		if got := a.Age(now.UnixMilli() - ago); got != want {
			t.Errorf("age of %d ms: %s, want %s", ago, got, want)
		}
	}
}
