package lookup

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/search"
	"github.com/perdure/perdure/view"
)

// line is a hit of search --json.
type line struct {
	In        string     `json:"in"`
	SessionID string     `json:"session_id"` // empty: it is in a file
	File      string     `json:"file,omitempty"`
	Seq       int64      `json:"seq"` // of the event; 0: the session's name. In a file, the number of the entry or day
	Turn      int64      `json:"turn,omitempty"`
	Place     string     `json:"place"` // message, reply, result, note, title; memory, journal, handoff
	Title     string     `json:"title"`
	Cwd       string     `json:"cwd"`
	Time      view.Stamp `json:"time"`
	Snippet   string     `json:"snippet"`
	Marks     [][2]int   `json:"marks"` // from and to of each word that was looked for, in bytes of snippet
}

func lineOf(h search.Hit) line {
	l := line{
		In: h.Kind, Seq: h.Text.Seq, Turn: h.Turn, Place: h.Place, Title: titleOf(h), Cwd: h.Cwd, Time: view.Stamp(h.Time),
		Snippet: h.Snippet.Text, Marks: h.Snippet.Marks,
	}
	if l.Marks == nil {
		l.Marks = [][2]int{}
	}
	if h.Kind == search.Sessions {
		l.SessionID = h.Name
	} else {
		l.File = h.Name
	}
	return l
}

func titleOf(h search.Hit) string {
	if h.Text.Title != "" {
		return h.Text.Title
	}
	return h.Source.Title
}

func showAll(a *app.App, hits []search.Hit) error {
	for i, h := range hits {
		show(a, h, i)
	}
	return nil
}

// show prints a hit for people: what it is, the words, and how to go on from there.
func show(a *app.App, h search.Hit, i int) {
	if i > 0 {
		a.Linef("")
	}
	words := []string{what(h)}
	if title := titleOf(h); title != "" && h.Place != "title" {
		words = append(words, `"`+display.Line(title, display.MaxCell)+`"`)
	}
	words = append(words, a.Ago(h.Time))
	if h.Cwd != "" {
		words = append(words, display.Line(a.Tilde(h.Cwd), 200))
	}
	a.Linef("%s", strings.Join(words, "  "))
	a.Linef("  %s", marked(h.Snippet, a.Coloured()))
	a.Linef("  %s", hint(a, h))
}

// what names a hit.
func what(h search.Hit) string {
	switch {
	case h.Kind == search.Sessions && h.Place == "title":
		return "session " + h.Name + ", its name"
	case h.Kind == search.Sessions && h.Turn > 0:
		return fmt.Sprintf("session %s, turn %d, %s", h.Name, h.Turn, h.Place)
	case h.Kind == search.Sessions:
		return fmt.Sprintf("session %s, %s", h.Name, h.Place)
	}
	return h.Place
}

// hint says how to go on from a hit.
func hint(a *app.App, h search.Hit) string {
	switch {
	case h.Kind != search.Sessions:
		return display.Line(a.Tilde(filepath.Clean(h.Name)), 500)
	case h.Text.Seq > 0:
		return fmt.Sprintf(`perdure -p -r %s "…"; perdure log %s --from %d`, display.Quote(h.Name), display.Quote(h.Name), h.Text.Seq)
	}
	return fmt.Sprintf(`perdure -p -r %s "…"`, display.Quote(h.Name))
}

// marked shows a snippet, and on a terminal its words in bold. What it quotes controls no terminal.
func marked(s search.Snippet, bold bool) string {
	if !bold {
		return safe(s.Text)
	}
	var b strings.Builder
	at := 0
	for _, m := range s.Marks {
		b.WriteString(safe(s.Text[at:m[0]]) + "\x1b[1m" + safe(s.Text[m[0]:m[1]]) + "\x1b[0m")
		at = m[1]
	}
	return b.String() + safe(s.Text[at:])
}

// safe is text of one line as a terminal may have it.
func safe(text string) string { return display.Safe(text) }
