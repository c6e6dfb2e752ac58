// Package diffview shows a person what changed in a text: a unified diff with the numbers of lines, colours and signs,
// and the words that changed within a line.
//
// It shows what somebody may have to judge. So nothing in a line is left out: what does not show by itself, or would
// steer the terminal, is shown by its number. What is too long or too large is cut, and the number of lines that are not
// shown is said.
package diffview

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Bounds.
const (
	context  = 3       // lines before and after a change
	maxRows  = 400     // lines of a diff that are shown
	maxBytes = 1 << 20 // of a text that is compared line by line
	maxLine  = 1 << 10 // bytes of a line that are shown
)

// View draws diffs. It does not change, so that many goroutines may share one.
type View struct{ styles theme.Styles }

// New is a view with that look.
func New(s theme.Styles) View { return View{s} }

// row is a line of a diff.
type row struct {
	sign byte // + - or blank
	text string
	a, b int  // its number before and after, from 1
	open bool // no end of line follows it: it is the last of its text
}

// hunk is a part of a diff without gaps.
type hunk struct {
	rows []row
	hot  [][]span // of each row, what changed in it
}

// file is the diff of one text.
type file struct {
	name  string
	note  string // in the place of hunks
	hunks []hunk
	part  bool // of some text of a file: nobody knows where it begins
}

// Diff is what changed in a text. To find it takes time, to draw it at a width little.
type Diff struct {
	v    View
	file file
}

// Compare finds what changed from old to new.
func (v View) Compare(old, now, name string) Diff { return Diff{v, compare(old, now, name)} }

// ComparePart finds what changed from old to new where these are some text of a file and nobody knows its place: the diff
// has no numbers of lines, and says nothing about the end of a line that goes on in the file.
func (v View) ComparePart(old, now, name string) Diff {
	f := compare(old, now, name)
	f.part = true
	if ends := func(s string) bool { return strings.HasSuffix(s, "\n") }; !ends(old) && !ends(now) {
		for _, h := range f.hunks {
			for i := range h.rows {
				h.rows[i].open = false
			}
		}
	}
	return Diff{v, f}
}

// Lines are the lines of a diff, none wider than width, with a head that has the name and counts.
func (d Diff) Lines(width int) []string { return d.v.draw(d.file, width) }

// Lines are what changed from old to new.
func (v View) Lines(old, now, name string, width int) []string {
	return v.Compare(old, now, name).Lines(width)
}

// FromUnified are the lines of a unified diff of one or more texts, as git or diff write it.
func (v View) FromUnified(text string, width int) []string {
	var lines []string
	for i, f := range parse(text) {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, v.draw(f, width)...)
	}
	return lines
}

// Stat counts the lines that were added and removed. Of texts that are too large to be compared line by line, all
// between the first and the last that differ count.
func Stat(old, now string) (added, removed int) {
	if len(old) > maxBytes || len(now) > maxBytes {
		old, now = trim(old, now)
		return count(now), count(old)
	}
	for _, e := range udiff.Lines(old, now) {
		added += count(e.New)
		removed += count(old[e.Start:e.End])
	}
	return added, removed
}

// trim takes off the lines at the beginning and at the end that are the same.
func trim(a, b string) (string, string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	n = strings.LastIndexByte(a[:n], '\n') + 1
	a, b = a[n:], b[n:]
	n = 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	same := a[len(a)-n:]
	if n < len(a) && a[len(a)-n-1] != '\n' || n < len(b) && b[len(b)-n-1] != '\n' { // a part of a line is not the same
		i := strings.IndexByte(same, '\n')
		if i < 0 {
			return a, b
		}
		same = same[i+1:]
	}
	return a[:len(a)-len(same)], b[:len(b)-len(same)]
}

func count(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// isBinary reports what is no text.
func isBinary(s string) bool {
	return strings.ContainsRune(s[:min(len(s), 8<<10)], 0) || !utf8.ValidString(s)
}

func compare(old, now, name string) file {
	f := file{name: name}
	sizes := plain.Size(int64(len(old))) + " → " + plain.Size(int64(len(now)))
	switch {
	case old == now:
		f.note = "nothing changed"
		return f
	case isBinary(old) || isBinary(now):
		f.note = "binary, " + sizes
		return f
	case len(old) > maxBytes || len(now) > maxBytes:
		added, removed := Stat(old, now)
		f.note = fmt.Sprintf("too large to be shown here, %s: up to %s lines differ", sizes, plain.Grouped(int64(max(added, removed))))
		return f
	}
	diff, err := udiff.ToUnifiedDiff("", "", old, udiff.Lines(old, now), context)
	if err != nil {
		f.note = err.Error()
		return f
	}
	shown := 0
	for _, h := range diff.Hunks {
		a, b := h.FromLine, h.ToLine
		var part hunk
		for _, l := range h.Lines {
			r := row{sign: ' ', text: strings.TrimSuffix(l.Content, "\n"), open: !strings.HasSuffix(l.Content, "\n")}
			switch l.Kind {
			case udiff.Insert:
				r.sign = '+'
			case udiff.Delete:
				r.sign = '-'
			case udiff.Equal:
			}
			part.add(r, &a, &b)
		}
		if shown < maxRows {
			part.hot = changed(part.rows[:min(len(part.rows), maxRows)])
		}
		shown += len(part.rows)
		f.hunks = append(f.hunks, part)
	}
	return f
}

// add gives a line its numbers.
func (h *hunk) add(r row, a, b *int) {
	if r.sign != '+' {
		r.a = *a
		*a++
	}
	if r.sign != '-' {
		r.b = *b
		*b++
	}
	h.rows = append(h.rows, r)
}

// stat is the number of lines with each sign.
func (f file) stat() (added, removed int) {
	for _, h := range f.hunks {
		for _, r := range h.rows {
			switch r.sign {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed
}

// head is the line above a diff.
func (v View) head(f file, width int) string {
	s := v.styles
	end := ""
	if f.note != "" {
		end = "  " + s.Quiet.Styled(plain.Line(f.note, 200))
	} else if added, removed := f.stat(); added+removed > 0 {
		end = "  " + s.Counts(plain.Grouped(int64(added)), plain.Grouped(int64(removed)))
	}
	name := plain.Shown(f.name, 500)
	name = theme.End(name, max(width-ansi.StringWidth(end), 1)) // the end of a path says more
	return theme.Cut(s.Title.Styled(name)+end, width)
}
