package permission

import (
	"path"
	"slices"
	"strings"
)

// protectedPath reports that a path is protected: by the policy, or by a name
// that programs execute from. Letter case and the forms of Unicode are ignored,
// because some filesystems ignore them. With glob the path's segments may be shell patterns.
func protectedPath(p Policy, abs string, glob bool) bool {
	clean := path.Clean(abs)
	if glob {
		clean = cleanForm(abs)
	}
	if _, own := relative(p.TempDir, clean); own && strings.HasPrefix(p.TempDir, "/") {
		return false // its own directory, wherever it lies
	}
	at := segmentsOf(clean)
	if underAny(at, p.protects, glob) && !p.isOwn(clean) {
		return true
	}
	segs := at.folded
	for i, seg := range segs {
		next := ""
		if i+1 < len(segs) {
			next = segs[i+1]
		}
		if seg != "" && protectedName(seg, next, i == 1, glob) {
			return true
		}
	}
	return false
}

// isOwn reports a path in the directory of the session's own.
func (p Policy) isOwn(clean string) bool {
	return slices.ContainsFunc(p.owns, func(dir string) bool {
		_, in := relative(dir, clean)
		return in
	})
}

// segments are those of a path in lower case, and folded where that may be another spelling.
type segments struct{ lower, folded []string }

func segmentsOf(clean string) segments {
	s := segments{lower: strings.Split(strings.ToLower(clean), "/")}
	if s.folded = s.lower; !ascii(clean) {
		s.folded = strings.Split(fold(clean), "/")
	}
	return s
}

// guarded prepares directories to be compared with many paths.
func guarded(dirs []string) []segments {
	out := make([]segments, 0, len(dirs))
	for _, dir := range dirs {
		if strings.HasPrefix(dir, "/") {
			out = append(out, segmentsOf(path.Clean(dir)))
		}
	}
	return out
}

// underAny reports that a path, perhaps a form, is one of the directories or lies below it, in either spelling.
func underAny(at segments, dirs []segments, glob bool) bool {
	for _, dir := range dirs {
		if underSegments(at.lower, dir.lower, glob) || underSegments(at.folded, dir.folded, glob) {
			return true
		}
	}
	return false
}

func underSegments(segs, dir []string, glob bool) bool {
	if len(dir) == 2 && dir[1] == "" {
		return true // the root directory
	}
	if glob && segs[0] != "" {
		return underSomewhere(segs, dir)
	}
	if len(segs) < len(dir) {
		return false
	}
	for i := range dir {
		if segs[i] != dir[i] && !(glob && i > 0 && segs[i] == "\x00") && !segMatches(segs[i], dir[i], glob) {
			return false
		}
	}
	return true
}

// underSomewhere compares a path of which only the end is known: what is written of it must name the end of dir.
func underSomewhere(segs, dir []string) bool {
	if segs[0] == "\x00" {
		segs = segs[1:]
	}
	for from := 1; from < len(dir); from++ {
		if len(segs) > 0 && segs[0] != "" && underSegments(append([]string{""}, segs...), append([]string{""}, dir[from:]...), true) {
			return true
		}
	}
	return false
}

// segMatches compares one path segment, perhaps of a form, with a name. As in the shell a leading dot must be written.
// A segment of which nothing is written matches no name.
func segMatches(seg, name string, glob bool) bool {
	if seg == name {
		return true
	}
	return glob && seg != "\x00" && isPattern(seg) && overlap(formTokens(seg, false), literalTokens(name))
}
