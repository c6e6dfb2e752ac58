package lineage

import (
	"regexp"
	"slices"
	"strings"
)

// Line is a line of a text that is its writer's own.
type Line struct {
	N    int // from 1
	Text string
}

// elements are those that a session's requests put others' words in: one without an end holds the rest of the text.
var elements = []string{
	"about", "user_message", "awaited", "message", "plan", "facts", "files", "live_state", "acts", "summary", "conversation",
	"instructions", "memory", "handoff", "journal", "earlier_plan", "commits", "state", "system-reminder", "system_reminder", "document", "file",
	"tool_result", "function_results", "result", "output",
}

var (
	opening = regexp.MustCompile(`(?:^\s*<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>|<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>\s*$)`)
	fence   = regexp.MustCompile("^\\s*(?:(?:[-*+]|\\d{1,9}[.)])\\s+)*(`{3,}|~{3,})")
	quoting = regexp.MustCompile(`^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*>`)
	listed  = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])\s`)
	coded   = regexp.MustCompile(`^(?: {4}| {0,3}\t)`)
	heading = regexp.MustCompile(`^ {0,3}#{1,6}(?:\s|$)`)
)

// Own gives the lines of a text that its writer says: not what is quoted with >, fenced or indented as code, in a comment,
// or between the beginning and the end of an element. What is not certain counts as quoted.
func Own(text string) []Line {
	r := &reader{all: strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")}
	for r.at = 0; r.at < len(r.all); r.at++ {
		r.line(r.all[r.at])
	}
	return r.own
}

type reader struct {
	all     []string
	at      int
	own     []Line
	fence   string // that is open
	quoted  bool   // a paragraph that began with > goes on
	speaks  bool   // the line before is one of a paragraph or list: an indented one goes on with it
	missing []string
}

func (r *reader) line(l string) {
	bare := strings.TrimSpace(l)
	if r.fence != "" {
		if strings.HasPrefix(bare, r.fence) && strings.Trim(bare, r.fence[:1]) == "" {
			r.fence = ""
		}
		return
	}
	if m := fence.FindStringSubmatch(l); m != nil {
		r.fence, r.quoted, r.speaks = m[1], false, false
		return
	}
	switch {
	case bare == "":
		r.quoted, r.speaks = false, false
		return
	case quoting.MatchString(l):
		r.quoted, r.speaks = true, false
		return
	case r.quoted && !listed.MatchString(l) && !heading.MatchString(l):
		return
	case coded.MatchString(l) && !r.speaks && !listed.MatchString(l):
		return
	case r.skips(l):
		r.quoted, r.speaks = false, false
		return
	}
	r.quoted, r.speaks = false, true
	r.own = append(r.own, Line{N: r.at + 1, Text: l})
}

// skips goes past a comment or an element that begins with this line, or at its end.
func (r *reader) skips(l string) bool {
	if strings.HasPrefix(strings.TrimSpace(l), "<!--") {
		for r.at < len(r.all)-1 && !strings.Contains(r.all[r.at], "-->") {
			r.at++
		}
		return true
	}
	m := opening.FindStringSubmatch(l)
	if m == nil || strings.HasSuffix(strings.TrimSpace(m[0]), "/>") {
		return false
	}
	name := strings.ToLower(m[1] + m[2])
	known := slices.Contains(elements, name)
	if m[2] != "" && !known {
		return false
	}
	return r.to("</"+name, known)
}

// maxMissing bounds the ends that are looked for in vain.
const maxMissing = 50

// to goes to the last line that has such an end; without one, to the end of the text if the rest is to be left out. Of
// several ends the last one counts: those before it can be part of what is quoted.
func (r *reader) to(end string, rest bool) bool {
	if !rest && (slices.Contains(r.missing, end) || len(r.missing) == maxMissing) {
		return false
	}
	for i := len(r.all) - 1; i >= r.at; i-- {
		if strings.Contains(strings.ToLower(r.all[i]), end) {
			r.at = i
			return true
		}
	}
	if rest {
		r.at = len(r.all)
		return true
	}
	r.missing = append(r.missing, end)
	return false
}
