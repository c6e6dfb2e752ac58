package permission

import (
	"path"
	"strings"
)

// relative returns abs as seen from dir, "." for dir itself. Both are absolute.
func relative(dir, abs string) (string, bool) {
	dir, abs = path.Clean(dir), path.Clean(abs)
	if dir == abs {
		return ".", true
	}
	if dir != "/" {
		dir += "/"
	}
	if !strings.HasPrefix(abs, dir) {
		return "", false
	}
	return abs[len(dir):], true
}

// inside reports that an absolute path lies in the session's directories.
func inside(p Policy, abs string) bool {
	if !strings.HasPrefix(abs, "/") {
		return false
	}
	for _, dir := range append([]string{p.root()}, p.Dirs...) {
		if strings.HasPrefix(dir, "/") {
			if _, ok := relative(dir, abs); ok {
				return true
			}
		}
	}
	return false
}

// readsInside reports that Read, Glob or Grep stays in the session's directories.
func readsInside(p Policy, r Request) bool {
	if oddPath(r) || leaves(r.Pattern) {
		return false
	}
	return inside(p, target(r))
}

// target is the path that a file tool works on.
func target(r Request) string {
	if r.Path == "" && (r.Tool == toolGlob || r.Tool == toolGrep) {
		return r.Cwd
	}
	return r.Path
}

// leaves reports that a glob may reach out of the directory it starts in.
func leaves(glob string) bool {
	if strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~") {
		return true
	}
	// Braces and classes can spell a dot dot in many ways; two dots in a row
	// next to a separator, brace, comma or the ends are enough to ask.
	for i := 0; i+1 < len(glob); i++ {
		if glob[i] == '.' && glob[i+1] == '.' &&
			(i == 0 || strings.IndexByte("/{,", glob[i-1]) >= 0) &&
			(i+2 == len(glob) || strings.IndexByte("/},", glob[i+2]) >= 0) {
			return true
		}
	}
	return strings.Contains(glob, "{/") || strings.Contains(glob, ",/") || strings.Contains(glob, `\.`) || strings.Contains(glob, "[.")
}

// rawTarget is the path as the model wrote it, made absolute by its letters
// alone, or "".
func rawTarget(r Request) string {
	raw := r.RawPath
	switch {
	case raw == "":
		return ""
	case strings.HasPrefix(raw, "~/") && r.HomeDir != "":
		raw = r.HomeDir + raw[1:]
	case !strings.HasPrefix(raw, "/"):
		if r.Cwd == "" {
			return ""
		}
		raw = r.Cwd + "/" + raw
	}
	return path.Clean(raw)
}

// Hidden reports that a deny or ask rule on reading covers this file, given by
// its absolute resolved path: Grep and Glob must leave it out, whatever directory
// they were allowed to search.
func Hidden(p Policy, abs string) bool {
	r := Request{Tool: toolRead, Path: abs, Root: p.root(), Cwd: p.Cwd, HomeDir: p.HomeDir, links: p.Links}
	for _, rule := range append(p.Rules[:len(p.Rules):len(p.Rules)], p.Grants...) {
		if rule.Effect == Allow {
			continue
		}
		pat, err := compile(rule)
		if err != nil || pat.kind == matchPath && pat.bindsTool(toolRead) && pat.pathMatches(abs, r) {
			return true
		}
	}
	return false
}
