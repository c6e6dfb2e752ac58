package handoff

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/session"
)

// word is a piece of a text that may name a file or a commit.
type word struct {
	text       string
	start, end int
	after      int // the end with a line's number
}

// maxWords bounds the pieces of one text.
const maxWords = 20_000

// wordsOf splits a text at blanks, quotes and brackets, and takes from each piece what is punctuation, and a line number
// behind a file's name.
func wordsOf(text string) []word {
	var out []word
	start := -1
	for i, r := range text + " " {
		if !unicode.IsSpace(r) && !strings.ContainsRune("\"'`“”‘’«»()[]{}<>,;|=", r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && len(out) < maxWords {
			if w := trimmed(text, start, i); w.text != "" {
				out = append(out, w)
			}
		}
		start = -1
	}
	return out
}

var lineNumber = regexp.MustCompile(`(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$`)

func trimmed(text string, start, end int) word {
	piece := text[start:end]
	for _, mark := range []string{"**", "__", "*"} {
		if in := strings.TrimSuffix(strings.TrimPrefix(piece, mark), mark); len(in) == len(piece)-2*len(mark) {
			piece = in
			start += len(mark)
			break
		}
	}
	piece = strings.TrimRight(piece, ".:!?…")
	after := start + len(piece)
	piece = piece[:len(piece)-len(lineNumber.FindString(piece))]
	return word{text: piece, start: start, end: start + len(piece), after: after}
}

// known are the files that a session knows.
type known struct {
	files map[string]bool
	bases map[string][]string // by last name
	dirs  []string            // that relative names are taken from
}

func knownTo(st *session.State) known {
	k := known{files: map[string]bool{}, bases: map[string][]string{}, dirs: append([]string{st.Cwd, st.Config.Root}, st.Directories...)}
	for path := range st.Files {
		k.files[path] = true
		base := filepath.Base(path)
		k.bases[base] = append(k.bases[base], path)
	}
	return k
}

// absolute writes each name of a known file in a text as its whole path. One that could mean two files stays.
func (k known) absolute(text string) string {
	if len(k.files) == 0 || text == "" {
		return text
	}
	var b strings.Builder
	done := 0
	for _, w := range wordsOf(text) {
		if path := k.find(w.text); path != "" {
			b.WriteString(text[done:w.start] + path)
			done = w.end
		}
	}
	return b.String() + text[done:]
}

// find is the file that a relative name means; empty: none, or nobody knows which.
func (k known) find(name string) string {
	if filepath.IsAbs(name) || !filepath.IsLocal(name) {
		return ""
	}
	for _, dir := range k.dirs {
		if path := filepath.Join(dir, name); dir != "" && k.files[path] && showable(path) {
			return path
		}
	}
	tail, found := "/"+filepath.Clean(name), ""
	if !strings.ContainsAny(tail[1:], "./") {
		return "" // an ordinary word
	}
	for _, path := range k.bases[filepath.Base(name)] {
		if strings.HasSuffix(path, tail) && showable(path) {
			if found != "" {
				return ""
			}
			found = path
		}
	}
	return found
}

// showable reports whether a path can stand in a text as it is.
func showable(path string) bool { return path == oneLine(path) && !strings.Contains(path, " ") }

// quotedPath is a path as it stands in a list of files: as it is where that can be read, else as Go quotes it.
func quotedPath(path string) string {
	if path == oneLine(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	quoted := strconv.QuoteToASCII(path)
	if quoted != oneLine(quoted) {
		quoted = forging.Replace(quoted)
	}
	return quoted
}

// forging writes what oneLine would change by its number.
var forging = strings.NewReplacer(" ", `\x20`, "<", `\x3c`, ">", `\x3e`, "`", `\x60`, "~", `\x7e`)

// unquotedPath is the path that quotedPath was given.
func unquotedPath(line string) string {
	if path, err := strconv.Unquote(line); err == nil && strings.HasPrefix(line, `"`) {
		return path
	}
	return line
}
