package handoff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// part is a section, or one list of the state.
type part struct {
	head   string // of the section; empty: it goes on
	label  string // before each item, in the state
	empty  string // what stands there if there is nothing; empty: nothing does
	prose  bool   // one item that is no point
	last   bool   // the first items are the least important, not the last
	failed bool
	paths  bool // items are whole or not there
	items  []string
	left   int // items that are left out
}

func partsOf(d Document) []*part {
	s := d.State
	all := []*part{
		{head: headGoal, empty: noGoal, prose: true, items: []string{d.Goal}},
		{head: headDone, empty: noItems, last: true, items: d.Done},
		{head: headNot, empty: noItems, items: d.NotWorking},
		{head: headFailed, empty: noItems, failed: true, items: d.FailedApproaches},
		{head: headDecisions, empty: noItems, items: d.Decisions},
		{head: headNext, empty: noNext, prose: true, items: []string{d.NextStep}},
	}
	state := stateParts(&s)
	for _, p := range state {
		p.items = *p.of
		all = append(all, &p.part)
	}
	for _, p := range all {
		p.tidy()
	}
	for _, p := range state {
		if p.size() > 0 {
			p.head = headState
			break
		}
	}
	return all
}

// statePart is a list of the state with its place in it.
type statePart struct {
	part
	of *[]string
}

func stateParts(s *State) []*statePart {
	return []*statePart{
		{part{label: "Running"}, &s.Running},
		{part{label: "In progress"}, &s.InProgress},
		{part{label: "Found"}, &s.Found},
		{part{label: "Ended"}, &s.Ended},
		{part{label: "Commit"}, &s.Commits},
		{part{label: "Created", paths: true}, &s.Created},
		{part{label: "Changed", paths: true}, &s.Changed},
		{part{label: "Last reply"}, replyOf(s)},
		{part{label: "Missing"}, &s.Missing},
	}
}

// replyOf is the last reply as a list.
func replyOf(s *State) *[]string {
	if s.LastReply == "" {
		return &[]string{}
	}
	return &[]string{s.LastReply}
}

var leftOutLine = regexp.MustCompile(`^\((\d{1,9}) more (?:is|are) left out\)$`)

func leftOut(n int) string {
	if n == 1 {
		return "(1 more is left out)"
	}
	return fmt.Sprintf("(%d more are left out)", n)
}

// tidy makes each item one line, and counts what was left out before.
func (p *part) tidy() {
	var out []string
	for _, item := range p.items {
		var line string
		if p.paths {
			line = quotedPath(item)
		} else {
			line = oneLine(item)
		}
		switch m := leftOutLine.FindStringSubmatch(line); {
		case line == "" || line == noItems && !p.prose || line == p.empty:
		case m != nil && !p.prose:
			n, _ := strconv.Atoi(m[1])
			p.left += n
		case len(out) >= maxItems && !p.failed && !p.last, len(out) >= maxFailed:
			p.left++
		default:
			out = append(out, line)
		}
	}
	if more := len(out) - maxItems; p.last && more > 0 {
		out, p.left = out[more:], p.left+more
	}
	p.items = out
}

// size is how many bytes text has.
func (p *part) size() int {
	n := 0
	if p.head != "" {
		n += len(p.head) + 2
	}
	each := 1 // the newline
	switch {
	case p.prose:
	case p.label != "":
		each += len("- : ") + len(p.label)
	default:
		each += len("- ")
	}
	for _, item := range p.items {
		n += len(item) + each
	}
	if p.left > 0 {
		n += len(leftOut(p.left)) + each
	}
	if len(p.items) == 0 && p.left == 0 && p.empty != "" {
		n += len(p.empty) + each
	}
	return n
}

// text is the part as it stands in the document.
func (p *part) text() string {
	var b strings.Builder
	if p.head != "" {
		b.WriteString("\n" + p.head + "\n")
	}
	line := func(item string) {
		switch {
		case p.prose:
		case p.label != "":
			b.WriteString("- " + p.label + ": ")
		default:
			b.WriteString("- ")
		}
		b.WriteString(item + "\n")
	}
	if p.last && p.left > 0 {
		line(leftOut(p.left))
	}
	for _, item := range p.items {
		line(item)
	}
	if !p.last && p.left > 0 {
		line(leftOut(p.left))
	}
	if len(p.items) == 0 && p.left == 0 && p.empty != "" {
		line(p.empty)
	}
	return b.String()
}
