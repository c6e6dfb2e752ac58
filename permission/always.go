package permission

import (
	"path"
	"strings"
)

// program is the name of our own command.
const program = "perdure"

// deciding says why a command may decide, for the agent, what a human has to
// decide, or "".
func (j *judge) deciding() string {
	for _, c := range j.s.all {
		if name, ok := c.name(); ok && strings.EqualFold(name, program) && !readsOnly(c.argv[1:]) {
			return "the command runs " + program + ", which can decide about this session"
		}
	}
	if (j.s.unknown || j.s.broken) && hasWord(j.s.text, false) {
		return "the command names " + program + " and is not plainly understood"
	}
	for _, text := range j.s.programs {
		if hasWord(text, true) {
			return "the command hands " + program + " to another program"
		}
	}
	return ""
}

// readsOnly reports a call of our own command that only shows something.
func readsOnly(args []word) bool {
	if len(args) == 0 {
		return false
	}
	for _, w := range args {
		if !w.known || strings.HasPrefix(w.text, "--dangerously") || strings.HasPrefix(w.text, "--permission") || strings.HasPrefix(w.text, "--allow") {
			return false
		}
	}
	switch args[0].text {
	case "list", "show", "log", "search", "verify", "usage", "version", "--version", "completion", "doctor", "help", "--help", "diff":
		return true
	case "task":
		return len(args) > 1 && (args[1].text == "list" || args[1].text == "output")
	}
	return false
}

// hasWord finds our command's name as a whole word. With notDir an occurrence
// that is only a directory of a longer path does not count.
func hasWord(text string, notDir bool) bool {
	text = strings.ToLower(text)
	for from := 0; ; {
		i := strings.Index(text[from:], program)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(program)
		from = end
		if start > 0 && nameByte(text[start-1]) || end < len(text) && nameByte(text[end]) {
			continue
		}
		if notDir && end < len(text) && text[end] == '/' {
			continue
		}
		return true
	}
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// namesProtected says which word of the command names a protected path, or "".
func (j *judge) namesProtected() string {
	for _, w := range j.s.words {
		for _, piece := range pathPieces(w) {
			for _, abs := range j.resolve(piece) {
				if protectedPath(j.p, abs, w.glob) {
					return "the command names " + clip(strings.ReplaceAll(piece, "\x00", "…")) + ", which is protected"
				}
			}
		}
	}
	return ""
}

// wordUnder finds a word that names a file which a deny or ask rule on files
// covers.
func (j *judge) wordUnder(p pattern) string {
	if j.s == nil || p.kind != matchPath {
		return ""
	}
	for _, w := range j.s.words {
		for _, piece := range pathPieces(w) {
			for _, abs := range j.resolve(piece) {
				if p.pathMatches(abs, j.r) {
					return piece
				}
			}
		}
	}
	return ""
}

// maxPieces bounds the parts of one word that are looked at as paths.
const maxPieces = 32

// pathPieces are the parts of a word that may be a path: the word, what follows
// = : , or @ in it, and what follows a one-letter option.
func pathPieces(w word) []string {
	t := w.text
	if t == "" {
		return nil
	}
	pieces := []string{t}
	if len(t) > 2 && t[0] == '-' && t[1] != '-' {
		pieces = append(pieces, t[2:])
	}
	for i := 0; i < len(t) && len(pieces) < maxPieces; i++ {
		if strings.IndexByte("=:,@", t[i]) < 0 {
			continue
		}
		rest := t[i+1:]
		if end := strings.IndexAny(rest, ":,"); end >= 0 {
			pieces = append(pieces, rest[:end])
		}
		pieces = append(pieces, rest)
	}
	if end := strings.IndexAny(t, ":,"); end > 0 {
		pieces = append(pieces, t[:end])
	}
	return pieces
}

// resolve makes a piece absolute by its letters, from every directory that the
// command may be in.
func (j *judge) resolve(piece string) []string {
	switch {
	case piece == "" || len(piece) > maxPath:
		return nil
	case strings.HasPrefix(piece, "~/") && j.r.HomeDir != "":
		return []string{path.Clean(j.r.HomeDir + piece[1:])}
	case piece == "~" && j.r.HomeDir != "":
		return []string{path.Clean(j.r.HomeDir)}
	case strings.HasPrefix(piece, "/"):
		return []string{path.Clean(piece)}
	}
	abs := make([]string, 0, len(j.s.bases))
	for _, base := range j.s.bases {
		abs = append(abs, path.Clean("/"+base+"/"+piece))
	}
	return abs
}
