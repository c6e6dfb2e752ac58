package handoff

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxRead bounds what is read as a document, in bytes.
const MaxRead = 64 << 10

// Parse reads a document: ours, or one that a person wrote. It fails for one over [MaxRead] and for what is no text.
func Parse(text []byte) (Document, error) {
	switch {
	case len(text) > MaxRead:
		return Document{}, fmt.Errorf("handoff: it has %d bytes, at most %d are read", len(text), MaxRead)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return Document{}, errors.New("handoff: it is no text")
	}
	d, ours := readHeader(string(text))
	name, head := "", ""
	body := map[string][]string{}
	var other [][]string // each with its name first
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			name, head = "other", strings.TrimSpace(title)
			if known, rest, ok := sectionOf(line); ok && rest == "" {
				name = known
			} else {
				other = append(other, []string{head})
			}
			continue
		}
		switch {
		case name == "" && (strings.HasPrefix(line, "# ") || ours && ourLine(line)):
			if when, ok := titleTime(line); ok && !ours {
				d.Written = when
			}
		case name == "" && line != "" && len(other) == 0:
			other = append(other, []string{"", line})
		case name == "" && len(other) > 0, name == "other":
			other[len(other)-1] = append(other[len(other)-1], line)
		default:
			body[name] = append(body[name], line)
		}
	}
	for _, o := range other {
		d.Other = append(d.Other, Section{Name: o[0], Text: strings.TrimSpace(strings.Join(o[1:], "\n"))})
	}
	d.fill(body, ours)
	return d, nil
}

// ourLine tells of a line before the first section that it is one of ours.
func ourLine(line string) bool {
	return strings.HasPrefix(line, commentBegin) || strings.HasPrefix(line, "Session ") || strings.HasPrefix(line, namingBegin)
}

var titleDate = regexp.MustCompile(`\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?`)

// titleTime is the time in a title, as UTC: a hand-written one does not name its zone.
func titleTime(line string) (time.Time, bool) {
	text := strings.Replace(titleDate.FindString(line), "T", " ", 1)
	for _, layout := range []string{"2006-01-02 15:04", time.DateOnly} {
		if when, err := time.Parse(layout, text); err == nil {
			return when, true
		}
	}
	return time.Time{}, false
}

// fill takes the sections apart.
func (d *Document) fill(body map[string][]string, ours bool) {
	list := func(name string) []string {
		if ours {
			return points(body[name])
		}
		return lines(items(body[name]))
	}
	d.Goal = prose(body["goal"], noGoal)
	d.NextStep = prose(body["next"], noNext)
	d.Done, d.NotWorking, d.FailedApproaches, d.Decisions = list("done"), list("not working"), list("failed"), list("decisions")
	d.State.InProgress, d.State.Found = list("in progress"), list("found")
	d.state(list("state"))
}

// lines makes each text one line.
func lines(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, oneLine(t))
	}
	return out
}

// prose is a section of words.
func prose(body []string, empty string) string {
	if text := oneLine(strings.Join(body, "\n")); text != empty {
		return text
	}
	return ""
}

// points are the items of a list as we write them: one line each. A line of somebody else's belongs to the one before.
func points(body []string) []string {
	var out []string
	for _, l := range body {
		item, ok := strings.CutPrefix(l, "- ")
		switch {
		case l == "" || l == "- "+noItems:
		case ok || len(out) == 0:
			out = append(out, oneLine(item))
		case len(out[len(out)-1]) < maxError*10:
			out[len(out)-1] = oneLine(out[len(out)-1] + " " + l)
		}
	}
	return out
}

// state takes the lines of the state apart, each by its label; one without a label that we know is something that was
// found.
func (d *Document) state(body []string) {
	var reply []string
	parts := stateParts(&d.State)
	for _, l := range body {
		label, item, _ := strings.Cut(l, ": ")
		to := &d.State.Found
		if label == "Last reply" {
			to = &reply
		}
		known := false
		for _, p := range parts {
			if p.label != label {
				continue
			}
			if known = true; label != "Last reply" {
				to = p.of
			}
			if p.paths && !leftOutLine.MatchString(item) {
				item = unquotedPath(item)
			}
		}
		if !known {
			item = l
		}
		*to = append(*to, item)
	}
	d.State.LastReply = strings.Join(reply, " ")
}
