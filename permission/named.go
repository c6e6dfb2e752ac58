package permission

import (
	"path"
	"strings"
)

// namesProtected says which word of the command names a protected path, or "".
func (j *judge) namesProtected() string {
	for _, w := range j.s.words {
		// Every command has this variable, so it is the plain way to the home.
		if strings.Contains(w.raw, "$PERDURE_HOME") || strings.Contains(w.raw, "${PERDURE_HOME") {
			return "the command names $PERDURE_HOME, which is protected"
		}
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
