package permission

import (
	"path"
	"strings"
)

// pathName is a path that a word may name.
type pathName struct {
	abs     string // absolute and clean, a form; it begins with markUnknown when any directory may stand before it
	full    string // the same before it was cleaned
	shown   string
	program string
	left    bool
	reads   bool
	runs    bool
	unseen  bool // a pattern, and what it leads to cannot be told
}

// maxNames bounds the paths that one command is taken to name.
const maxNames = 1 << 16

// names are the paths that the words of the command may name, in every way they may expand, and where they lead.
func (j *judge) names() []pathName {
	if j.named != nil {
		return j.named
	}
	j.named = []pathName{}
	for _, m := range j.s.words {
		forms := j.s.expand(m.word)
		if !m.known && len(forms) == 1 && !strings.ContainsAny(m.form, "\x00\x01\x02\x03\x04\x05\x06\x07") && m.text != "" {
			forms = append(forms, "\x00") // something that is not understood
		}
		for _, form := range forms {
			for _, piece := range pathPieces(form) {
				j.resolve(m, piece)
				if len(j.named) > maxNames {
					j.s.overflow = true
					return j.named
				}
			}
		}
	}
	j.follow()
	return j.named
}

// resolve makes a piece absolute by its letters, from every directory that the command may be in.
func (j *judge) resolve(m mention, piece string) {
	add := func(full string) {
		j.named = append(j.named, pathName{abs: cleanForm(full), full: full, shown: clip(shownPiece(m, piece)), program: m.program, left: m.left, reads: m.reads, runs: m.runs})
	}
	switch {
	case piece == "" || len(piece) > maxPath:
	case piece[0] == markUnknown || piece[0] == '/':
		add(piece)
	case piece[0] == '~' || piece[0] == markTilde:
		user, rest, _ := strings.Cut(piece[1:], "/")
		switch {
		case user == "" && j.r.HomeDir != "":
			add(j.r.HomeDir + "/" + rest)
		case user == "+":
			for _, base := range j.s.here() {
				add(base + "/" + rest)
			}
		case piece[0] == markTilde || user == "":
			add("\x00/" + rest)
		}
		if piece[0] == '~' {
			j.beside(piece, add)
		}
	case strings.HasPrefix(piece, ":/"):
		j.beside(piece, add)
		for _, base := range j.s.here() {
			for dir := base; strings.HasPrefix(dir, "/"); dir = path.Dir(dir) {
				if add(dir + piece[1:]); dir == "/" {
					break
				}
			}
		}
	default:
		j.beside(piece, add)
	}
}

func (j *judge) beside(piece string, add func(string)) {
	for _, base := range j.s.here() {
		if base != "\x00" {
			base = "/" + base
		}
		add(base + "/" + piece)
	}
}

func shownPiece(m mention, piece string) string {
	if strings.ContainsAny(m.form, "\x00\x01\x04\x05\x06\x07") && m.raw != "" {
		return m.raw // a known value may be a secret
	}
	return piece
}

// maxPieces bounds the parts of one word that hold separators themselves.
const maxPieces = 32

// pathPieces are the parts of a form that may be a path: the whole, what follows = : , or @ in it, and what follows
// the letters of short options.
func pathPieces(t string) []string {
	if t == "" {
		return nil
	}
	pieces := append([]string{t}, pathspec(t)...)
	if len(t) > 2 && t[0] == '-' && t[1] != '-' {
		k := 2
		for ; k < len(t) && k < 2+maxPieces; k++ {
			pieces = append(pieces, t[k:])
			if !nameStart(t[k]) && (t[k] < '0' || t[k] > '9') {
				break
			}
		}
		if k == 2+maxPieces {
			pieces = append(pieces, "\x00") // no cluster of options is so long
		}
	}
	for i, cuts := 0, 0; i < len(t); i++ {
		if strings.IndexByte("=:,@", t[i]) < 0 {
			continue
		}
		rest := t[i+1:]
		if end := strings.IndexAny(rest, "=:,@"); end >= 0 {
			pieces = append(pieces, rest[:end])
		} else {
			pieces = append(pieces, rest)
		}
		if cuts++; cuts < maxPieces {
			if end := strings.IndexAny(rest, ":,"); end >= 0 {
				pieces = append(pieces, rest[:end])
			}
			pieces = append(pieces, rest)
		}
	}
	if end := strings.IndexAny(t, ":,"); end > 0 {
		pieces = append(pieces, t[:end])
	}
	return pieces
}

// cleanForm is path.Clean for a form: what is not known may be several directories, so no .. takes it away.
func cleanForm(full string) string {
	if strings.IndexByte(full, markUnknown) < 0 {
		return path.Clean(full)
	}
	var out []string
	for i, seg := range strings.Split(full, "/") {
		switch {
		case seg == "" && i > 0, seg == ".":
		case seg == "..":
			if n := len(out); n > 1 && strings.IndexByte(out[n-1], markUnknown) < 0 {
				out = out[:n-1]
			}
		default:
			out = append(out, seg)
		}
	}
	return strings.Join(out, "/")
}

// pathspec gives the paths in a form that begins with the magic that git has for paths: :(top,icase)name, :/name,
// :!name. As :/name they count from the top of the repository, which may be any directory above.
func pathspec(t string) []string {
	if len(t) < 2 || t[0] != ':' {
		return nil
	}
	rest := strings.TrimLeft(t[1:], "/!^")
	if t[1] == '(' {
		_, after, closed := strings.Cut(t, ")")
		if rest = strings.TrimLeft(after, "/"); !closed {
			return []string{"\x00"}
		}
	} else if strings.IndexByte("/!^", t[1]) < 0 || rest == "" {
		return nil
	}
	return []string{rest, ":/" + rest}
}

// namesProtected says which word of the command names a protected path, or a way to every path, or "".
func (j *judge) namesProtected() string {
	for _, w := range j.s.words {
		// Every command has this variable, so it is the plain way to the home.
		if strings.Contains(w.raw, "$PERDURE_HOME") || strings.Contains(w.raw, "${PERDURE_HOME") || w.known && w.text == "PERDURE_HOME" && (w.program == "" || w.program == "printenv") {
			return "the command names $PERDURE_HOME, which is protected"
		}
	}
	for _, n := range j.names() {
		if n.left {
			continue
		}
		if leadsAnywhere(n.full) {
			return "the command names " + n.shown + ", which leads to other files under another name"
		}
		if protectedPath(j.p, n.abs, isPattern(n.abs)) {
			return "the command names " + n.shown + ", which is protected"
		}
	}
	if j.s.overflow {
		return "the command names more paths than are looked at"
	}
	return ""
}

// wordUnder finds a word that names, or may expand to, a file which a deny or ask rule on files covers.
func (j *judge) wordUnder(p pattern) string {
	if j.s == nil || p.kind != matchPath {
		return ""
	}
	for _, n := range j.names() {
		if n.unseen {
			return n.shown
		}
		if !isPattern(n.abs) {
			if p.pathMatches(n.abs, j.r) {
				return n.shown
			}
			continue
		}
		if strings.IndexByte(n.abs, markUnknown) >= 0 && opensNothing(n.program) {
			continue
		}
		if p.mayMatch(n.abs, j.s.wide, j.r) {
			return n.shown
		}
	}
	return ""
}

// opensNothing reports a program that opens none of the files that its words name.
func opensNothing(program string) bool {
	switch program {
	case "echo", "printf", "test", "[", "true", "false", ":", "exit", "return", "kill", "sleep", "wait", "shift", "set", "unset", "cd", "pushd", "popd", "pwd", "seq", "expr", "basename", "dirname", "date", "export":
		return true
	}
	return false
}

// leadsAnywhere reports a path through which the kernel shows other files or memory: /proc/PID/cwd and its like,
// /dev/fd. Their .. leaves by another door than it came in, so the path is read as it stands.
func leadsAnywhere(full string) bool {
	if len(full) > 0 && full[0] == markUnknown {
		return false
	}
	var at []string
	for _, seg := range strings.Split(strings.ToLower(full), "/") {
		switch seg {
		case "", ".":
			continue
		case "..":
			at = at[:max(0, len(at)-1)]
			continue
		}
		at = append(at, seg)
		switch {
		case len(at) == 2 && segMatches(at[0], "dev", true) && segMatches(seg, "fd", true):
			return true
		case len(at) == 3 && at[0] == "dev" && (at[1] == "stdin" || at[1] == "stdout" || at[1] == "stderr"):
			return true
		case len(at) < 2 || !segMatches(at[0], "proc", true):
			continue
		}
		if len(at) != 3 {
			continue
		}
		for _, name := range []string{"cwd", "root", "fd", "environ", "mem", "task", "map_files"} {
			if segMatches(seg, name, true) || strings.IndexByte(seg, markUnknown) >= 0 {
				return true
			}
		}
	}
	return len(at) == 2 && at[0] == "proc" && at[1] == "\x00" // several names may stand there
}
