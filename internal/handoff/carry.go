package handoff

import (
	"slices"
	"strings"
)

// Carry takes over what an earlier document says, for one that nobody found words for: the thread of the work goes on.
func (d Document) Carry(before Document) Document {
	first, _, _ := strings.Cut(before.Goal, thenAsked) // of a chain, the first goal and the newest request
	if first != "" && first != d.Goal {
		d.Goal = strings.TrimSpace(cut(first, maxCarried) + thenAsked + d.Goal)
	}
	d.Done = joined(d.Done, before.Done)
	d.NotWorking = joined(d.NotWorking, before.NotWorking)
	d.Decisions = joined(d.Decisions, before.Decisions)
	if d.NextStep == "" {
		d.NextStep = before.NextStep
	}
	return d
}

// thenAsked stands between the goal before and what was asked since. maxCarried bounds the former, in bytes.
const (
	thenAsked  = " Then asked: "
	maxCarried = 400
)

// joined is a list and what another one has besides.
func joined(list, more []string) []string {
	out := slices.Clip(list)
	for _, m := range more {
		if !slices.ContainsFunc(out, func(l string) bool { return strings.EqualFold(l, m) }) {
			out = append(out, m)
		}
	}
	return out
}

// maxShort bounds each list of a short form, in items.
const maxShort = 8

// Short is what a reader of another document should know of this one: what it is about, what failed, what is next.
func (d Document) Short() string {
	var lines []string
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, name+": "+cut(text, 300))
		}
	}
	add("Goal", d.Goal)
	for _, f := range d.FailedApproaches[:min(len(d.FailedApproaches), maxShort)] {
		add("Failed, do not retry", f)
	}
	add("Next step", d.NextStep)
	return strings.Join(lines, "\n")
}
