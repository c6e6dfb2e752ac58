package permission

import (
	"path"
	"strings"
)

// gitReaches reports that a git command may show a file that a deny or ask rule on reading covers.
func (j *judge) gitReaches(p pattern, args []word) bool {
	g := parseGit(args)
	g.elsewhere = g.elsewhere || j.gitElsewhere()
	what := g.shown()
	if g.sub.text == "clone" {
		return j.clonesUnder(p, g)
	}
	if what == gitNothing {
		return false
	}
	for _, base := range j.gitBases(g) {
		tops := j.gitTops(g, base)
		if what == gitAll || j.objectUnder(p, g, base, tops) {
			return j.anyBelow(p, tops) || what != gitAll
		}
		if what != gitNamed {
			continue
		}
		paths := j.gitPathspecs(g, base)
		if len(paths) == 0 {
			if g.sub.text == "grep" {
				tops = []string{base} // it searches from here on
			}
			if j.onlyObjects(g) {
				continue
			}
			if j.anyBelow(p, tops) {
				return true
			}
			continue
		}
		for _, at := range paths {
			if j.gitPathUnder(p, at, tops) {
				return true
			}
		}
	}
	return false
}

// gitElsewhere reports that a variable chooses the repository.
func (j *judge) gitElsewhere() bool {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_INDEX_FILE"} {
		if j.p.Env[name] != "" || len(j.s.assigned[name]) > 0 {
			return true
		}
	}
	return false
}

// gitBases are the directories that a git command may run in, as forms.
func (j *judge) gitBases(g gitCall) []string {
	bases := j.s.here()
	for _, dir := range g.dirs {
		var next []string
		for _, form := range j.s.expand(dir) {
			for _, base := range bases {
				switch {
				case strings.HasPrefix(form, "/"):
					next = append(next, cleanForm(form))
				case strings.HasPrefix(form, "\x07/"):
					next = append(next, cleanForm(j.r.HomeDir+form[1:]))
				case isPattern(form) || form == "" || form[0] == markTilde || base == "\x00":
					next = append(next, "\x00")
				default:
					next = append(next, path.Join(base, form))
				}
			}
		}
		if bases = next; len(bases) > maxBases {
			return []string{"\x00"}
		}
	}
	return bases
}

func (j *judge) anyBelow(p pattern, dirs []string) bool {
	for _, dir := range dirs {
		if p.liesBelow(dir, j.s.wide, j.r) {
			return true
		}
	}
	return false
}

// objectUnder reports an object among the words that is, or may be, the content of a file that the rule covers.
func (j *judge) objectUnder(p pattern, g gitCall, base string, tops []string) bool {
	_, words := gitOptions(g.args)
	sub := g.sub.text
	for i, w := range words {
		if sub == "grep" && i == 0 || sub == "cat-file" && w.text == "blob" {
			continue
		}
		for _, form := range j.s.expand(w) {
			if name, ok := gitObjectPath(form); ok {
				at := []string{path.Join(base, name)}
				if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
					at = at[:0]
					for _, top := range tops {
						at = append(at, path.Join(top, name))
					}
				}
				for _, abs := range at {
					if p.pathMatches(abs, j.r) || sub != "show" && sub != "cat-file" && j.gitPathUnder(p, abs, tops) {
						return true
					}
				}
				continue
			}
			blob := (sub == "show" || sub == "cat-file") && !gitCommit(form) && !j.there(base, form) || sub == "diff" && gitHash(form)
			if blob && j.anyBelow(p, tops) {
				return true
			}
		}
	}
	return false
}

// gitObjectPath gives the path in rev:path, :path and :0:path.
func gitObjectPath(form string) (name string, ok bool) {
	rev, name, ok := strings.Cut(form, ":")
	if !ok || rev == "" && name != "" && strings.IndexByte("/(!^", name[0]) >= 0 || strings.Contains(rev, "^{/") {
		return "", false
	}
	if n, rest, stage := strings.Cut(name, ":"); rev == "" && stage && len(n) == 1 {
		name = rest
	}
	return name, true
}

// onlyObjects reports git show of nothing but rev:path, or git diff of two of them.
func (j *judge) onlyObjects(g gitCall) bool {
	_, words := gitOptions(g.args)
	if g.sub.text != "show" && (g.sub.text != "diff" || len(words) != 2) {
		return false
	}
	for _, w := range words {
		for _, form := range j.s.expand(w) {
			if _, ok := gitObjectPath(form); !ok {
				return false
			}
		}
	}
	return len(words) > 0
}

// gitPathspecs are the paths to which a git command is bound, as forms; none if it is not.
func (j *judge) gitPathspecs(g gitCall, base string) []string {
	before, behind, separated := gitSeparated(g.args)
	var out []string
	if !separated {
		pattern := g.sub.text == "grep" // its first word is what is looked for
		for i, w := range before {
			if strings.HasPrefix(w.text, "-") {
				continue
			}
			if pattern {
				pattern = false
				continue
			}
			spec := strings.HasPrefix(w.text, ":") || strings.ContainsAny(w.text, `*?[\`) // it need not be there
			if spec || w.known && j.there(base, w.text) && (i == 0 || !gitMayTakeValue(before[i-1].text)) {
				out = append(out, j.gitPathspec(w.text, base)...)
			}
		}
		return out
	}
	for _, w := range behind {
		for _, form := range j.s.expand(w) {
			out = append(out, j.gitPathspec(form, base)...)
		}
	}
	return out
}

// gitPathspec reads one path of git's: * and its like match in every directory, and what begins with a colon has a
// meaning of its own. One that only leaves out gives nothing.
func (j *judge) gitPathspec(form, base string) []string {
	switch {
	case strings.HasPrefix(form, ":!"), strings.HasPrefix(form, ":^"), strings.HasPrefix(form, ":(exclude)"):
		return nil
	case strings.HasPrefix(form, ":"), base == "\x00", form == "", form[0] == markTilde:
		return []string{"\x00"}
	}
	if i := strings.IndexAny(form, "*?[\\\x00\x04\x05\x06"); i >= 0 {
		form = form[:i] + "\x00"
	}
	if strings.HasPrefix(form, "/") {
		return []string{cleanForm(form)}
	}
	return []string{cleanForm(base + "/" + form)}
}

// gitPathUnder reports that a path, which may be a directory, is or holds a file that the rule covers.
func (j *judge) gitPathUnder(p pattern, at string, tops []string) bool {
	if at == "\x00" {
		return j.anyBelow(p, tops)
	}
	if isPattern(at) {
		return p.mayMatch(at, j.s.wide, j.r)
	}
	if p.pathMatches(at, j.r) {
		return true
	}
	if j.p.Look != nil {
		if places, ok := j.p.Look(at, false); ok && len(places) == 1 && !places[0].Missing && !places[0].Dir {
			return false
		}
	}
	return p.liesBelow(at, j.s.wide, j.r)
}

// there reports that something has the name now, and that it does not look like a revision: git takes it for a path, or
// fails.
func (j *judge) there(base, name string) bool {
	if j.p.Look == nil || gitCommit(name) || gitHash(name) || isPattern(base) || name == "" || isPattern(name) || !strings.HasPrefix(base, "/") {
		return false
	}
	if !strings.HasPrefix(name, "/") {
		name = path.Join(base, name)
	}
	places, ok := j.p.Look(name, false)
	return ok && len(places) == 1 && !places[0].Missing
}

// clonesUnder reports a clone of a directory here that holds a file which the rule covers.
func (j *judge) clonesUnder(p pattern, g gitCall) bool {
	_, words := gitOptions(g.args)
	for _, base := range j.gitBases(g) {
		for _, w := range words {
			if j.there(base, w.text) && j.gitPathUnder(p, path.Join(base, w.text), nil) {
				return true
			}
		}
	}
	return false
}

// hidingFrom names a rule that hides a file which this git command may show, or "".
func (j *judge) hidingFrom(c command) string {
	for _, p := range j.pats {
		switch {
		case p.Effect == Allow:
		case p.bad, p.kind == matchPath && p.bindsTool(toolGrep) && !p.bindsTool(toolRead), p.kind == matchPath && p.bindsTool(toolRead) && j.gitReaches(p, c.argv[1:]):
			return "the rule " + clip(p.Text) + " hides some"
		}
	}
	return ""
}
