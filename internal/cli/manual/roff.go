package manual

import (
	"fmt"
	"strings"
)

// roff collects the source of a page for troff's macros man.
type roff struct{ out strings.Builder }

func (r *roff) line(format string, args ...any) { _, _ = fmt.Fprintf(&r.out, format+"\n", args...) }

func (r *roff) section(title string) { r.line(".SH %s", escaped(title)) }

// text writes words that are filled.
func (r *roff) text(s string) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			r.line("%s", escaped(line))
		}
	}
}

// prose writes paragraphs; lines that are indented stay as they are.
func (r *roff) prose(s string) {
	kept := false
	for i, line := range strings.Split(s, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if kept && !indented {
			r.line(".fi\n.RE")
			kept = false
		}
		switch {
		case strings.TrimSpace(line) == "":
			if i > 0 {
				r.line(".PP")
			}
			continue
		case indented && !kept:
			r.line(".RS 4\n.nf")
			kept = true
		}
		if indented {
			r.line("%s", escaped(strings.TrimPrefix(line, "  ")))
			continue
		}
		r.text(line)
	}
	if kept {
		r.line(".fi\n.RE")
	}
}

// escaped makes text that troff takes for nothing else: no request, no escape, dashes that can be copied, characters
// beyond ASCII by their number.
func escaped(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case i == 0 && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			_, _ = fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted is an argument of a request.
func quoted(s string) string { return `"` + strings.ReplaceAll(escaped(s), `"`, `\(dq`) + `"` }
