package cli

import (
	"strings"
	"time"
	"unicode"

	safe "github.com/perdure/perdure/internal/plain"
)

// age is how long ago a time in ms UTC was.
func (a *App) age(ms int64) string {
	if ms == 0 {
		return "-"
	}
	d := a.Now().Sub(time.UnixMilli(ms))
	if d < time.Second {
		return "now"
	}
	return safe.Span(d)
}

// ago is age in a sentence.
func (a *App) ago(ms int64) string {
	if age := a.age(ms); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// local is a time in ms UTC as this terminal's clock shows it, with its zone.
func (a *App) local(ms int64) string { return a.clock(ms).Format("2006-01-02 15:04:05 Z07:00") }

// clock is a time in ms UTC in the zone of whoever looks; nil is UTC.
func (a *App) clock(ms int64) time.Time {
	zone := a.Zone
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMilli(ms).In(zone)
}

// since words how long ago a time was.
func (a *App) since(ms int64) string {
	age := a.age(ms)
	if strings.ContainsFunc(age, unicode.IsDigit) {
		age += " ago"
	}
	return age
}
