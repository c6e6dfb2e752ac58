package handoff

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

// Naming gives a document that a session wrote with the names of other handoffs that lie beside it, in place of those
// that it had; none takes the line out. Its digest does not cover them, so it stays intact. Any other text stays as it is.
func Naming(text []byte, names []string) []byte {
	lines := strings.Split(unix(string(text)), "\n")
	comment, naming := headerAt(lines)
	if comment < 0 {
		return text
	}
	if naming >= 0 {
		lines = append(lines[:naming], lines[naming+1:]...)
	}
	if line := namingLine(names); line != "" {
		at := min(comment+2, len(lines))
		lines = append(lines[:at], append([]string{line}, lines[at:]...)...)
	}
	return []byte(strings.Join(lines, "\n"))
}

func namingLine(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const more = ", and 9999 more"
	line := namingBegin
	for i, name := range names {
		if i > 0 {
			name = ", " + name
		}
		if len(line)+len(name)+len(more)+1 > maxNaming {
			return session.CutEnd(line, maxNaming-len(more)-1) + fmt.Sprintf("%s and %d more", map[bool]string{true: ","}[i > 0], len(names)-i)
		}
		line += name
	}
	return line
}
