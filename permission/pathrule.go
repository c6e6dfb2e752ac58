package permission

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	matchTool   matchKind = iota // the tool alone
	matchExact                   // Bash(text)
	matchPrefix                  // Bash(words:*)
	matchPath                    // Edit(glob)
)

// pathMatches compares an absolute clean path with a path rule.
func (p pattern) pathMatches(abs string, r Request) bool {
	if !strings.HasPrefix(abs, "/") || len(abs) > maxPath {
		return false
	}
	anchor, glob, ok := p.anchor(r)
	if !ok {
		return false
	}
	if p.Effect == Allow {
		rel, in := relative(anchor, abs)
		return in && doublestar.MatchUnvalidated(glob, rel)
	}
	// A deny or ask rule errs on the wide side: any letter case, any depth for
	// a bare name, and everything below what it names.
	rel, in := relative(strings.ToLower(anchor), strings.ToLower(abs))
	if !in {
		return false
	}
	glob = strings.ToLower(glob)
	if doublestar.MatchUnvalidated(glob, rel) || doublestar.MatchUnvalidated(glob+"/**", rel) {
		return true
	}
	anchored := strings.HasPrefix(p.text, "/") || strings.HasPrefix(p.text, "~") ||
		strings.HasPrefix(p.text, "./") || strings.HasPrefix(p.text, "../")
	if anchored || strings.Contains(strings.TrimSuffix(glob, "/**"), "/") {
		return false
	}
	return doublestar.MatchUnvalidated("**/"+glob, rel) || doublestar.MatchUnvalidated("**/"+glob+"/**", rel)
}

// anchor splits a path rule into the directory it hangs on and the rest.
func (p pattern) anchor(r Request) (dir, glob string, ok bool) {
	g := p.text
	switch {
	case strings.HasPrefix(g, "~/"):
		dir, g = r.HomeDir, g[2:]
	case strings.HasPrefix(g, "/"):
		dir, g = "/", strings.TrimLeft(g, "/")
	default:
		if dir = r.Root; dir == "" {
			dir = r.Cwd
		}
	}
	if !strings.HasPrefix(dir, "/") {
		return "", "", false
	}
	for strings.HasPrefix(g, "../") {
		dir, g = path.Dir(path.Clean(dir)), g[3:]
	}
	for strings.HasPrefix(g, "./") {
		g = strings.TrimLeft(g[2:], "/")
	}
	if g == "" {
		g = "."
	}
	return path.Clean(dir), g, true
}
