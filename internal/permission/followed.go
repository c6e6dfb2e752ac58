package permission

import (
	"path"
	"strings"
)

// This file follows the symbolic links in the paths that words name: a link of the project, which a clone brings along,
// is another name of what it leads to.

// maxFollowed bounds the paths of one command that are looked at.
const maxFollowed = 1 << 14

// follow adds where the paths that the words name lead, if that is elsewhere.
func (j *judge) follow() {
	if j.p.Look == nil {
		return
	}
	seen := map[string]bool{}
	for i := range j.named { // what is added meanwhile has no links left
		n := &j.named[i]
		if n.left || seen[n.full] {
			continue
		}
		if seen[n.full] = true; len(seen) > maxFollowed {
			j.s.overflow = true
			return
		}
		places, ok := j.leadsTo(n.full)
		n.unseen = !ok
		for _, at := range places {
			if at == n.abs || j.ownTemp(at) {
				continue
			}
			j.named = append(j.named, pathName{abs: at, full: at, shown: n.shown + ", which leads to " + clip(at), program: n.program, reads: n.reads, runs: n.runs})
			n = &j.named[i]
		}
	}
}

// leadsTo gives the places that a form leads to now, as forms. ok is false if it is a pattern that may lead to more
// than can be told. Nothing is said of a path whose beginning is not known, and of the kernel's own files.
func (j *judge) leadsTo(full string) (places []string, ok bool) {
	if len(full) == 0 || full[0] != '/' || strings.IndexByte(full, markUnknown) >= 0 {
		return nil, true
	}
	for _, special := range []string{"/proc", "/dev", "/sys"} {
		if _, in := relative(special, cleanForm(full)); in {
			return nil, true
		}
	}
	at, glob := "", false
	for seg := range strings.SplitSeq(full, "/") {
		switch {
		case seg == "" || seg == ".":
		case seg == "..": // it leaves the directory that a link before it leads to
			if glob {
				return nil, false
			}
			real, ok := j.p.Look(path.Clean("/"+at), false)
			if !ok || len(real) != 1 {
				return nil, true // the kernel does not find a way either
			}
			at = strings.TrimSuffix(path.Dir(real[0].Path), "/")
		default:
			seg = openClass(seg)
			at, glob = at+"/"+seg, glob || isPattern(seg)
		}
	}
	if glob && j.s.wide {
		return nil, false
	}
	found, ok := j.p.Look(path.Clean("/"+asGlob(at)), glob)
	for _, p := range found {
		places = append(places, formBytes(path.Clean(p.Path)))
	}
	return places, ok || !glob
}

// openClass makes a letter of each [ that no ] of its segment closes, as the command [ is one: it begins no pattern.
func openClass(seg string) string {
	last := strings.LastIndexByte(seg, ']')
	for i := len(seg) - 1; i > last; i-- {
		if seg[i] == markClass {
			seg = seg[:i] + "[" + seg[i+1:]
		}
	}
	return seg
}

// asGlob writes a form as a shell pattern that matches at least the same.
func asGlob(form string) string {
	return strings.NewReplacer(string(rune(markStar)), "*", string(rune(markOne)), "?", string(rune(markClass)), "[", string(rune(markTilde)), "~").Replace(form)
}

// ownTemp reports a path, with links followed, in the session's own directory for temporary files.
func (j *judge) ownTemp(at string) bool {
	if !strings.HasPrefix(j.p.TempDir, "/") {
		return false
	}
	if j.temp == "" {
		// Only of the directory around it links are followed: a command may have put a link in its place.
		dir, name := path.Split(path.Clean(j.p.TempDir))
		if real, ok := j.p.Look(path.Clean(dir), false); ok && len(real) == 1 {
			dir = real[0].Path
		}
		j.temp = path.Join(dir, name)
	}
	_, in := relative(j.temp, at)
	return in
}

// unseenPattern names a file pattern that may lead to more than can be told, or "".
func (j *judge) unseenPattern() string {
	for _, n := range j.names() {
		if n.unseen && !n.reads {
			return "what the pattern " + n.shown + " leads to cannot be told"
		}
	}
	return ""
}
