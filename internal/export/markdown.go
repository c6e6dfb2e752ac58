package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/perdure/perdure/internal/plain"
)

// Markdown writes the document as Markdown. What a person or the model said stands in a quote, where its headings, its
// fences and its lists are its own; what tools were asked and gave stands in fences longer than any in it.
func (d *Document) Markdown(to io.Writer) error {
	m := &marked{doc: d, w: bufio.NewWriter(to)}
	m.put("# %s\n\n", inline(d.title()))
	m.row("", "")
	m.row("---", "---")
	for _, f := range d.facts() {
		m.row(f.name, f.text)
	}
	m.tables()
	for _, t := range d.Turns {
		m.turn(t)
	}
	if len(d.Queued) > 0 {
		m.block("## Messages that wait for their turn")
		for _, e := range d.Queued {
			m.entry(e)
		}
	}
	m.block("---\n\n%s", inline(d.closing()))
	return m.w.Flush()
}

type marked struct {
	doc *Document
	w   *bufio.Writer // remembers its first error
}

func (m *marked) put(format string, args ...any) { _, _ = fmt.Fprintf(m.w, format, args...) }

// block is a block with a blank line before it.
func (m *marked) block(format string, args ...any) { m.put("\n"+format+"\n", args...) }

// row is one of a table.
func (m *marked) row(cells ...string) {
	for _, c := range cells {
		if strings.Trim(c, "-") != "" {
			c = inline(c)
		}
		m.put("| %s ", c)
	}
	m.put("|\n")
}

func (m *marked) tables() {
	v := m.doc.Session
	m.block("## Turns\n")
	m.row("#", "Began", "Prompt", "Steps", "Calls", "Tokens in", "out", "Cost", "Ended")
	m.row("---", "---", "---", "---", "---", "---", "---", "---", "---")
	for _, t := range m.doc.Turns {
		if t.N > 0 {
			m.row(fmt.Sprint(t.N), m.doc.clock(t.Started), firstWords(t), fmt.Sprint(t.Steps), fmt.Sprint(t.Calls),
				plain.Grouped(t.Usage.Input+t.Usage.CacheRead+t.Usage.CacheWrite), plain.Grouped(t.Usage.Output), t.cost(), t.ending())
		}
	}
	if len(v.Usage.Models) > 0 {
		m.block("## Models\n")
		m.row("Model", "Calls", "Tokens in", "from cache", "out", "Cost")
		m.row("---", "---", "---", "---", "---", "---")
		for _, u := range v.Usage.Models {
			m.row(u.Model, plain.Grouped(u.Calls), plain.Grouped(u.Input+u.CacheWrite), plain.Grouped(u.CacheRead), plain.Grouped(u.Output), money(u.CostUSD))
		}
	}
	if len(v.Plan) > 0 {
		m.block("## Plan\n")
		for i, s := range v.Plan {
			m.put("%d. %s (%s)\n", i+1, inline(plain.Line(s.Content, 2000)), s.Status)
		}
	}
	if len(v.Tasks) > 0 {
		m.block("## Tasks\n")
		m.row("Task", "State", "Command")
		m.row("---", "---", "---")
		for _, t := range v.Tasks {
			m.row(strings.TrimSpace(t.ID+" "+t.Name), taskState(t), plain.Line(t.Command, 500))
		}
	}
}

func (m *marked) turn(t *Turn) {
	if t.N == 0 {
		m.block("## Before the first turn")
	} else {
		m.block("## Turn %d: %s, %s", t.N, m.doc.clock(t.Started), t.ending())
	}
	for _, e := range t.Entries {
		m.entry(e)
	}
	if t.Message != "" {
		m.block("%s: %s", t.ending(), inline(t.Message))
	}
}

func (m *marked) entry(e *Entry) {
	at := m.doc.at(e.Time).Format("15:04:05")
	switch e.Kind {
	case Prompt:
		m.block("### %s, %s", inline(e.By), at)
		m.quote(e.Text)
	case Reply:
		m.block("### Model, %s", at)
		m.quote(e.Text)
	case Thinking:
		m.block("### Thinking, %s", at)
		m.fence("", e.Text)
	case Given:
		m.block("### Given: %s", inline(e.Label))
		m.fence("", e.Text)
	case Note:
		m.block("### Told to the model, %s", at)
		m.fence("", e.Text)
	case ToolCall:
		m.call(e.Call, at)
	case Event:
		m.block("*%s, %s*", inline(e.Label), at)
		m.fence("", e.Text)
	}
	m.parts(e.Parts)
}

func (m *marked) call(c *Call, at string) {
	m.block("### %s, %s: %s", inline(c.Tool), at, inline(c.stands()))
	for _, words := range []string{c.Asked, c.Answered} {
		if words != "" {
			m.block("%s", inline(words))
		}
	}
	m.fence("json", c.Input)
	for _, f := range c.Long {
		if f.Name == "command" {
			m.fence("sh", f.Text)
			continue
		}
		m.block("%s:", inline(f.Name))
		m.fence("", f.Text)
	}
	m.fence("", c.Result)
	m.parts(c.Parts)
}

func (m *marked) parts(parts []Part) {
	for _, p := range parts {
		m.block("*%s*", inline(p.named()))
	}
}

// quote keeps Markdown of others within its own bounds: nothing in it ends the quote, begins HTML or loads an image.
func (m *marked) quote(text string) {
	text = strings.Trim(tame(plain.Text(text)), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	m.put("\n")
	for line := range strings.Lines(text) {
		m.put("%s\n", strings.TrimRight("> "+line, " \n"))
	}
}

// fence puts text between two fences that are longer than any in it.
func (m *marked) fence(language, text string) {
	text = strings.TrimRight(plain.Text(text), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longest(text, '`')+1))
	m.block("%s%s\n%s\n%s", fence, language, text, fence)
}

// longest is the length of the longest run of a character.
func longest(text string, c byte) int {
	most, run := 0, 0
	for i := range len(text) {
		if text[i] == c {
			run++
			most = max(most, run)
			continue
		}
		run = 0
	}
	return most
}

// inline shows a text on one line as nothing but text.
func inline(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(plain.Text(text)), " ") {
		if strings.ContainsRune("\\`*_[]<>|~&#!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
