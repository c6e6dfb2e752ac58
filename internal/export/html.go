package export

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // for the style
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/perdure/perdure/internal/plain"
)

//go:embed page.css
var style string

// HTML writes the document as one page that needs nothing else: no script, no file, no network. What calls and thinking
// hold is folded. The page forbids itself everything but its own style and the images that it carries.
func (d *Document) HTML(to io.Writer) error {
	p := &page{doc: d, w: bufio.NewWriter(to)}
	sum := sha256.Sum256([]byte(style))
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>%s</style>
</head>
<body>
<h1 dir="auto">%s</h1>
`, raw(base64.StdEncoding.EncodeToString(sum[:])), d.title(), raw(style), d.title())
	p.head()
	p.turnTable()
	p.lists()
	for _, t := range d.Turns {
		p.turn(t)
	}
	if len(d.Queued) > 0 {
		p.put("<h2>Messages that wait for their turn</h2>\n")
		for _, e := range d.Queued {
			p.entry(e)
		}
	}
	p.put("<footer>%s</footer>\n</body>\n</html>\n", d.closing())
	return p.w.Flush()
}

// raw is text of this program's own that is HTML already; everything else is escaped.
type raw string

type page struct {
	doc *Document
	w   *bufio.Writer // remembers its first error
}

// put writes HTML around values. Texts are made plain and escaped, whoever wrote them.
func (p *page) put(format string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case raw:
			values[i] = string(v)
		case string:
			values[i] = escape(plain.Text(v))
		}
	}
	_, _ = fmt.Fprintf(p.w, format, values...)
}

func (p *page) head() {
	p.put("<dl>\n")
	for _, f := range p.doc.facts() {
		p.put("<dt>%s</dt><dd dir=\"auto\">%s</dd>\n", f.name, f.text)
	}
	p.put("</dl>\n")
}

func (p *page) turnTable() {
	d := p.doc
	p.put("<h2>Turns</h2>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">#</th><th>Began</th><th>Prompt</th><th class=\"n few\">Steps</th>" +
		"<th class=\"n few\">Calls</th><th class=\"n few\">Tokens in</th><th class=\"n few\">out</th><th class=\"n\">Cost</th><th>Ended</th></tr></thead><tbody>\n")
	for _, t := range d.Turns {
		if t.N == 0 {
			continue
		}
		p.put(`<tr><td class="n"><a href="#turn-%d">%d</a></td><td>%s</td><td dir="auto">%s</td>`, t.N, t.N, d.clock(t.Started), firstWords(t))
		for _, n := range []int64{int64(t.Steps), int64(t.Calls), t.Usage.Input + t.Usage.CacheRead + t.Usage.CacheWrite, t.Usage.Output} {
			p.put(`<td class="n few">%s</td>`, plain.Grouped(n))
		}
		p.put(`<td class="n">%s</td><td>%s</td></tr>`+"\n", t.cost(), t.ending())
	}
	p.put("</tbody></table></div>\n")
}

// lists are the models, the plan and the tasks.
func (p *page) lists() {
	v := p.doc.Session
	if len(v.Usage.Models) > 0 {
		p.put("<h2>Models</h2>\n<div class=\"wide\"><table><thead><tr><th>Model</th><th class=\"n\">Calls</th><th class=\"n\">Tokens in</th><th class=\"n few\">from cache</th><th class=\"n\">out</th><th class=\"n\">Cost</th></tr></thead><tbody>\n")
		for _, m := range v.Usage.Models {
			p.put(`<tr><td>%s</td><td class="n">%s</td><td class="n">%s</td><td class="n few">%s</td><td class="n">%s</td><td class="n">%s</td></tr>`+"\n", m.Model,
				plain.Grouped(m.Calls), plain.Grouped(m.Input+m.CacheWrite), plain.Grouped(m.CacheRead), plain.Grouped(m.Output), money(m.CostUSD))
		}
		p.put("</tbody></table></div>\n")
	}
	if len(v.Plan) > 0 {
		p.put("<h2>Plan</h2>\n<ol>\n")
		for _, s := range v.Plan {
			p.put("<li dir=\"auto\">%s <span class=\"soft\">(%s)</span></li>\n", s.Content, s.Status)
		}
		p.put("</ol>\n")
	}
	if len(v.Tasks) > 0 {
		p.put("<h2>Tasks</h2>\n<div class=\"wide\"><table><thead><tr><th>Task</th><th>State</th><th>Command</th></tr></thead><tbody>\n")
		for _, t := range v.Tasks {
			p.put("<tr><td>%s</td><td>%s</td><td><code>%s</code></td></tr>\n", strings.TrimSpace(t.ID+" "+t.Name), taskState(t), t.Command)
		}
		p.put("</tbody></table></div>\n")
	}
}

func (p *page) turn(t *Turn) {
	if t.N == 0 {
		p.put("<h2>Before the first turn</h2>\n")
	} else {
		p.put(`<h2 id="turn-%d">Turn %d <span class="soft">%s, %s</span></h2>`+"\n", t.N, t.N, p.doc.clock(t.Started), t.ending())
	}
	for _, e := range t.Entries {
		p.entry(e)
	}
	if t.Message != "" {
		p.put(`<p class="event bad">%s: %s</p>`+"\n", t.ending(), t.Message)
	}
}

func (p *page) entry(e *Entry) {
	switch e.Kind {
	case Prompt:
		p.put(`<section class="person"><p class="who">%s %s</p>`+"\n%s", e.By, p.time(e.Time), raw(renderMarkdown(plain.Text(e.Text))))
		p.parts(e.Parts)
		p.put("</section>\n")
	case Reply:
		p.put(`<section class="reply">%s</section>`+"\n", raw(renderMarkdown(plain.Text(e.Text))))
	case Thinking:
		p.fold(raw("<b>Thinking</b> "+string(p.time(e.Time))), e.Text)
	case Given:
		p.fold(raw("<b>Given</b> <code>"+escape(plain.Text(e.Label))+"</code>"), e.Text)
	case Note:
		p.fold(raw("<b>Told to the model</b> "+escape(plain.Line(e.Text, 80))), e.Text)
		p.parts(e.Parts)
	case ToolCall:
		p.call(e)
	case Event:
		if strings.TrimSpace(e.Text) != "" {
			p.fold(raw(escape(plain.Text(e.Label))+" "+string(p.time(e.Time))), e.Text)
			return
		}
		p.put(`<p class="event">%s %s</p>`+"\n", e.Label, p.time(e.Time))
	}
}

// fold shows a text when its reader wants it.
func (p *page) fold(summary raw, text string) {
	p.put("<details><summary>%s</summary>\n", summary)
	p.pre("", text)
	p.put("</details>\n")
}

func (p *page) pre(label, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if label != "" {
		p.put(`<p class="who">%s</p>`+"\n", label)
	}
	p.put("<pre dir=\"auto\">%s</pre>\n", strings.TrimRight(text, "\n"))
}

func (p *page) call(e *Entry) {
	c := e.Call
	class := "soft"
	switch c.Outcome {
	case "ok":
		class = "good"
	case "error", "denied", "unknown", "cancelled":
		class = "bad"
	}
	p.put("<details><summary><b>%s</b> ", c.Tool)
	if c.About != "" {
		p.put(`<code dir="auto">%s</code> `, plain.Line(c.About, 160))
	}
	p.put(`<span class="%s">%s</span></summary>`+"\n", class, c.stands())
	p.put(`<p class="who">%s%s</p>`+"\n", c.ID, raw(timesOf(p, e)))
	for _, words := range []string{c.Asked, c.Answered} {
		if words != "" {
			p.put(`<p class="event">%s</p>`+"\n", words)
		}
	}
	p.pre("Input", c.Input)
	for _, f := range c.Long {
		p.pre(f.Name, f.Text)
	}
	p.pre("Result", c.Result)
	p.parts(c.Parts)
	p.put("</details>\n")
}

func timesOf(p *page, e *Entry) string {
	if e.Call.Started == 0 {
		return ", asked for at " + string(p.time(e.Time))
	}
	return ", started at " + string(p.time(e.Call.Started))
}

// parts shows images that may be shown, and names the rest.
func (p *page) parts(parts []Part) {
	for _, part := range parts {
		if part.Data == nil {
			p.put(`<p class="event">%s</p>`+"\n", part.named())
			continue
		}
		p.put(`<img alt="%s" src="data:%s;base64,`, part.named(), part.Media)
		enc := base64.NewEncoder(base64.StdEncoding, p.w)
		_, _ = enc.Write(part.Data)
		_ = enc.Close()
		p.put("\">\n")
	}
}

// time is an hour of a day, with the whole of it for programs and for whoever points at it.
func (p *page) time(ms int64) raw {
	at := p.doc.at(ms)
	return raw(`<time datetime="` + at.Format("2006-01-02T15:04:05.000Z07:00") + `">` + at.Format("15:04:05") + "</time>")
}
