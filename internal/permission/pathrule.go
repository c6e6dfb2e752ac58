package permission

import (
	"path"
	"slices"
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
	for _, a := range p.anchors(r) {
		if p.matchesBelow(a.dir, a.glob, abs) {
			return true
		}
	}
	return false
}

// anchored is a path rule as seen from one directory.
type anchored struct{ dir, glob string }

// anchors are the ways to read a path rule: from the directory that it hangs on, and from the other names of it.
func (p pattern) anchors(r Request) []anchored {
	dir, glob, ok := p.anchor(r)
	if !ok {
		return nil
	}
	out := []anchored{{dir, glob}}
	fixed, rest := doublestar.SplitPattern(glob)
	if !strings.ContainsAny(glob, `*?[{\`) {
		fixed, rest = glob, "" // a name and nothing more
	}
	for _, other := range respelled(r.links, path.Join(dir, fixed)) {
		g := rest
		if g == "" {
			g = "."
		}
		out = append(out, anchored{other, g})
	}
	for _, other := range respelled(r.links, dir) {
		out = append(out, anchored{other, glob})
	}
	return out
}

func (p pattern) matchesBelow(anchor, glob, abs string) bool {
	if p.Effect == Allow {
		rel, in := relative(anchor, abs)
		return in && doublestar.MatchUnvalidated(glob, rel)
	}
	return eitherWay(func(spell func(string) string) bool {
		return p.matchesSpelled(spell(anchor), spell(glob), spell(abs))
	}, anchor, glob, abs)
}

// matchesSpelled: a deny or ask rule errs on the wide side: any depth for a bare name, and everything below what it names.
func (p pattern) matchesSpelled(anchor, glob, abs string) bool {
	rel, in := relative(anchor, abs)
	if !in {
		return false
	}
	if doublestar.MatchUnvalidated(glob, rel) || doublestar.MatchUnvalidated(glob+"/**", rel) {
		return true
	}
	if !p.anyDepth(glob) {
		return false
	}
	return doublestar.MatchUnvalidated("**/"+glob, rel) || doublestar.MatchUnvalidated("**/"+glob+"/**", rel)
}

// anyDepth reports a bare name, which a deny or ask rule finds at any depth.
func (p pattern) anyDepth(glob string) bool {
	return glob != "." && !strings.HasPrefix(p.text, "/") && !strings.HasPrefix(p.text, "~") && !strings.HasPrefix(p.text, "./") &&
		!strings.HasPrefix(p.text, "../") && !strings.Contains(strings.TrimSuffix(glob, "/**"), "/")
}

// mayMatch reports that a deny or ask rule on paths may cover one of the paths that a form stands for. wide: see
// formTokens.
func (p pattern) mayMatch(form string, wide bool, r Request) bool {
	for _, a := range p.anchors(r) {
		if eitherWay(func(spell func(string) string) bool {
			word, dir := formTokens(spell(form), wide), spell(a.dir)
			for _, glob := range alternatives(spell(a.glob)) {
				if overlap(word, ruleTokens(dir, glob)) || p.anyDepth(a.glob) && overlap(word, ruleTokens(dir, "**/"+glob)) {
					return true
				}
			}
			return false
		}, form, a.dir, a.glob) {
			return true
		}
	}
	return false
}

// maxAlternatives bounds what the braces of one rule stand for.
const maxAlternatives = 64

// alternatives expands the braces of a rule's glob.
func alternatives(glob string) []string {
	if !strings.Contains(glob, "{") {
		return []string{glob}
	}
	var form strings.Builder
	for i := 0; i < len(glob); i++ {
		switch at := strings.IndexByte("{,}", glob[i]); {
		case glob[i] == '\\' && i+1 < len(glob):
			form.WriteString(glob[i : i+2])
			i++
		case at >= 0:
			form.WriteByte("\x01\x02\x03"[at])
		default:
			form.WriteByte(glob[i])
		}
	}
	out := braces(form.String())
	if len(out) > maxAlternatives || slices.Contains(out, "\x00") {
		return []string{"**"}
	}
	return out
}

// anchor splits a path rule into the directory it hangs on and the rest, which is never empty: see compilePath.
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
	return path.Clean(dir), g, true
}
