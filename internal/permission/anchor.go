package permission

import (
	"path"
	"strings"
)

// Anchor rewrites a rule on files that stands in a configuration of dir, so that
// it means the same in a session whose root is another directory: its path
// becomes absolute. Every other rule is returned as it is.
func Anchor(r Rule, dir string) Rule {
	p, err := compile(r)
	if err != nil || p.kind != matchPath || !path.IsAbs(dir) {
		return r
	}
	g := p.text
	if strings.HasPrefix(g, "/") || strings.HasPrefix(g, "~/") {
		return r
	}
	dotted := strings.HasPrefix(g, "./") || strings.HasPrefix(g, "../")
	dir, g, _ = p.anchor(Request{Root: dir})
	// A deny or ask pattern without a slash holds at any depth.
	if r.Effect != Allow && !dotted && !strings.Contains(strings.TrimSuffix(g, "/**"), "/") {
		g = "**/" + g
	}
	at := escapeGlob(strings.TrimSuffix(dir, "/"))
	if g == "." {
		r.Text = p.tool + "(" + at + ")"
		return r
	}
	r.Text = p.tool + "(" + at + "/" + g + ")"
	return r
}
