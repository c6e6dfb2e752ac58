package handoff

import (
	"regexp"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// Words are what a model wrote when it was asked for a summary, by heading.
type Words struct {
	Goal             string
	Done             []string
	InProgress       []string
	NotWorking       []string
	FailedApproaches []string
	Decisions        []string
	Found            []string
	NextStep         string
}

// Empty tells that a model wrote nothing that can be used.
func (w Words) Empty() bool {
	return w.Goal == "" && w.NextStep == "" &&
		len(w.Done)+len(w.InProgress)+len(w.NotWorking)+len(w.FailedApproaches)+len(w.Decisions)+len(w.Found) == 0
}

// The names of sections, in lower case, and what else they are called.
var sectionNames = map[string]string{
	"goal": "goal", "done": "done", "in progress": "in progress", "not working": "not working", "blocked": "not working",
	"failed approaches": "failed", "key decisions": "decisions", "decisions": "decisions", "found": "found",
	"next step": "next", "next steps": "next", "state": "state",
	"learned": "", // for the memory: see package learn
}

// heading finds a line that is one: by #, in bold, or with a colon; behind it can stand the first words below it.
var heading = regexp.MustCompile(`(?i)^\s{0,3}(#{1,6}\s*)?(?:\d{1,2}[.)]\s*)?([-*]\s+)?(\*\*|__)?` +
	`(goal|done|in progress|not working|blocked|failed approaches|(?:key )?decisions|found|next steps?|state|learned)` +
	`(?:\s*\([^)]*\))?\s*(:)?\s*(\*\*|__)?\s*(:)?(.*)$`)

// sectionOf reads a heading; rest is what stands behind it on its line.
func sectionOf(line string) (name, rest string, ok bool) {
	m := heading.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	rest = strings.TrimSpace(m[8])
	marked, bold, colon := m[1] != "", m[3] != "", m[5] != "" || m[7] != ""
	switch {
	case rest != "" && !colon, m[2] != "" && !bold, !marked && !bold && !colon && rest != "":
		return "", "", false
	}
	return sectionNames[strings.ToLower(m[4])], rest, true
}

// ParseWords reads a summary as a model wrote it. What stands below no known heading is left out; of code and of long
// outputs only a line that says what went wrong is kept.
func ParseWords(text string) Words {
	body := map[string][]string{}
	name := ""
	for line := range strings.Lines(session.CutEnd(withoutCode(text), MaxRead)) {
		line = strings.TrimRight(line, " \t\r\n")
		if n, rest, ok := sectionOf(line); ok {
			if name = n; rest == "" {
				continue
			}
			line = rest
		} else if strings.HasPrefix(line, "#") {
			name = "" // a heading that we do not know
			continue
		}
		body[name] = append(body[name], line)
	}
	list := func(name string) []string { return each(items(body[name])) }
	return Words{
		Goal: strings.Join(list("goal"), " "), Done: list("done"), InProgress: list("in progress"),
		NotWorking: list("not working"), FailedApproaches: list("failed"), Decisions: list("decisions"), Found: list("found"),
		NextStep: strings.Join(list("next"), " "),
	}
}

// withoutCode takes the blocks between fences out of a text; a line that says what went wrong stays.
func withoutCode(text string) string {
	var out, block []string
	open := ""
	for line := range strings.Lines(inlineCode.ReplaceAllString(session.CutEnd(text, 1<<20), " ")) {
		line = strings.TrimRight(line, "\r\n")
		mark := fence.FindString(strings.TrimSpace(line))
		fenced := mark != "" && strings.HasPrefix(strings.TrimSpace(line), mark)
		switch {
		case open == "" && fenced:
			open, block = mark[:1], nil
		case open == "":
			out = append(out, line)
		case fenced && mark[:1] == open:
			out, open = append(out, "  "+errorIn(strings.Join(block, "\n"), false)), ""
		default:
			block = append(block, line)
		}
	}
	if open != "" {
		out = append(out, "  "+errorIn(strings.Join(block, "\n"), false))
	}
	return strings.Join(out, "\n")
}

var inlineCode = regexp.MustCompile("```[^`\n]*```")

var (
	bullet  = regexp.MustCompile(`^\s*(?:[-*•+]|\d{1,3}[.)])\s+`)
	nothing = regexp.MustCompile(`(?i)^(?:none|nothing|n/?a|-|—)[.!]?$`)
)

// maxItemLines is how many lines an item may have before it is taken for an output.
const maxItemLines = 8

// items are what the lines of a section list: points, or paragraphs.
func items(lines []string) []string {
	var all [][]string
	fresh := true
	for _, l := range lines {
		switch at := bullet.FindString(l); {
		case strings.TrimSpace(l) == "":
			fresh = true
			continue
		case at != "" && !strings.HasPrefix(l, "    "):
			all = append(all, []string{l[len(at):]})
		case len(all) == 0 || fresh && !strings.HasPrefix(l, " "):
			all = append(all, []string{l})
		default:
			all[len(all)-1] = append(all[len(all)-1], strings.TrimSpace(l))
		}
		fresh = false
	}
	var out []string
	for _, item := range all {
		if len(item) > maxItemLines {
			item = append(item[:2:2], errorIn(strings.Join(item[2:], "\n"), false))
		}
		if text := strings.TrimSpace(strings.Join(item, " ")); text != "" && !nothing.MatchString(text) {
			out = append(out, text)
		}
	}
	return out
}
