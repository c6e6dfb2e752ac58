package export

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/view"
)

// fact is something that is said of the session as a whole.
type fact struct{ name, text string }

func (d *Document) title() string {
	if d.Session.Title != "" {
		return plain.Line(d.Session.Title, 200)
	}
	for _, t := range d.Turns {
		if words := firstWords(t); words != "" {
			return words
		}
	}
	return "Session " + d.Session.ID
}

// facts are the head of a document.
func (d *Document) facts() []fact {
	v := d.Session
	out := []fact{{"Session", v.ID}}
	if v.Parent != nil {
		out = append(out, fact{"Fork of", fmt.Sprintf("%s at event %d", v.Parent.ID, v.Parent.Seq)})
	}
	out = append(out,
		fact{"Directory", v.Cwd},
		fact{"Opened", d.day(int64(v.Created))}, fact{"Updated", d.day(int64(v.Updated))},
		fact{"Stands", strings.ReplaceAll(v.Lifecycle+", "+v.Activity, "_", " ")},
		fact{"Model", v.Agent.Provider + "/" + v.Agent.Model},
		fact{"Usage", usage(v.Usage.Usage)}, fact{"Cost", money(v.CostUSD)},
		fact{"Turns", fmt.Sprintf("%d, %s events", d.count(), plain.Grouped(v.Head.Seq))},
		fact{"Written", d.day(d.Written.UnixMilli())},
		fact{"Secrets", d.secrets()},
	)
	return out
}

// secrets says what was done about them.
func (d *Document) secrets() string {
	switch {
	case !d.Redacted:
		return "nothing was hidden"
	case d.Hidden == 1:
		return "1 was hidden"
	case d.Hidden > 1:
		return plain.Grouped(int64(d.Hidden)) + " were hidden"
	}
	return "none was found"
}

func (d *Document) closing() string {
	return "Written by " + d.Program + " on " + d.day(d.Written.UnixMilli()) + ". What models, tools and people wrote stands here as text."
}

func (d *Document) count() (n int) {
	for _, t := range d.Turns {
		if t.N > 0 {
			n++
		}
	}
	return n
}

func (d *Document) at(ms int64) time.Time { return time.UnixMilli(ms).In(d.zone) }

// day is a time with its zone.
func (d *Document) day(ms int64) string { return d.at(ms).Format("Mon 2 Jan 2006 15:04:05 -07:00") }

func (d *Document) clock(ms int64) string { return d.at(ms).Format("2006-01-02 15:04") }

// firstWords are those that a turn began with.
func firstWords(t *Turn) string {
	for _, kind := range []Kind{Prompt, Note} {
		i := slices.IndexFunc(t.Entries, func(e *Entry) bool { return e.Kind == kind })
		if i >= 0 {
			return plain.Line(t.Entries[i].Text, 120)
		}
	}
	return ""
}

func (t *Turn) ending() string {
	if t.Stop == "" {
		return "open"
	}
	return strings.ReplaceAll(t.Stop, "_", " ")
}

func (t *Turn) cost() string {
	if t.Unknown {
		return "?"
	}
	usd := float64(t.Cost) / 1e9
	return money(&usd)
}

func money(usd *float64) string {
	if usd == nil {
		return "?"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

func usage(u model.Usage) string {
	text := plain.Grouped(u.Input) + " tokens in, " + plain.Grouped(u.Output) + " out"
	if u.CacheRead > 0 {
		text += ", " + plain.Grouped(u.CacheRead) + " read from cache"
	}
	if u.CacheWrite > 0 {
		text += ", " + plain.Grouped(u.CacheWrite) + " written to it"
	}
	return text
}

func taskState(t view.Task) string {
	switch {
	case t.ExitCode != nil:
		return fmt.Sprintf("exited %d", *t.ExitCode)
	case t.Signal != "":
		return "killed " + t.Signal
	}
	return t.Status
}

// stands is how a call ended, and how long it took.
func (c *Call) stands() string {
	text := c.Outcome
	switch {
	case text == "" && c.Task != "":
		text = "in the background"
	case text == "":
		text = "no result"
	case c.ExitCode != nil && *c.ExitCode != 0:
		text = fmt.Sprintf("exit %d", *c.ExitCode)
	}
	if c.Task != "" {
		text += " as " + c.Task
	}
	if c.Started > 0 && c.Ended >= c.Started {
		text += ", " + (time.Duration(c.Ended-c.Started) * time.Millisecond).Round(100*time.Millisecond).String()
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

func (p Part) named() string {
	return fmt.Sprintf("%s, %s", orElse(p.Media, "data"), plain.Size(int64(p.Size)))
}
