package app

import (
	"strings"
	"time"
	"unicode"

	safe "github.com/perdure/perdure/internal/plain"
)

// Age is how long ago a time in ms UTC was.
func (a *App) Age(ms int64) string {
	if ms == 0 {
		return "-"
	}
	d := a.Now().Sub(time.UnixMilli(ms))
	if d < time.Second {
		return "now"
	}
	return safe.Span(d)
}

// Ago is Age in a sentence.
func (a *App) Ago(ms int64) string {
	if age := a.Age(ms); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// Local is a time in ms UTC as this terminal's clock shows it, with its zone.
func (a *App) Local(ms int64) string { return a.Clock(ms).Format("2006-01-02 15:04:05 Z07:00") }

// Clock is a time in ms UTC in the zone of whoever looks; nil is UTC.
func (a *App) Clock(ms int64) time.Time {
	zone := a.Zone
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMilli(ms).In(zone)
}

// Since words how long ago a time was.
func (a *App) Since(ms int64) string {
	age := a.Age(ms)
	if strings.ContainsFunc(age, unicode.IsDigit) {
		age += " ago"
	}
	return age
}
