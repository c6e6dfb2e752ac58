package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// matchKind says how a compiled rule compares.
type matchKind int

// pattern is a compiled rule.
type pattern struct {
	Rule
	tool string
	kind matchKind
	text string // the text between the parentheses; for a prefix without its tail
	argv []word // exact or prefix: its words; nil if exact and not one plain command
	bad  bool   // the text could not be compiled
}

func compile(r Rule) (pattern, error) {
	if len(r.Text) > maxRuleText {
		return pattern{}, fmt.Errorf("%d bytes, the limit is %d", len(r.Text), maxRuleText)
	}
	tool, spec, has := strings.Cut(r.Text, "(")
	if has {
		inner, closed := strings.CutSuffix(spec, ")")
		if !closed {
			return pattern{}, errors.New("it must end with the closing parenthesis")
		}
		spec = inner
	}
	if !toolName(tool) {
		return pattern{}, fmt.Errorf("%q is not a tool's name", clip(tool))
	}
	p := pattern{Rule: r, tool: tool, text: spec}
	switch tool {
	case toolRead, toolEdit, toolWrite, toolGlob, toolGrep, toolArtifact:
		if has {
			return compilePath(p)
		}
	case toolBash:
		if has && spec != "*" {
			return compileBash(p)
		}
	}
	if !has || spec == "*" {
		return p, nil
	}
	if !slices.Contains(Tools(), tool) {
		return pattern{}, fmt.Errorf("no tool is called %s: there are %s", clip(tool), strings.Join(Tools(), ", "))
	}
	return pattern{}, fmt.Errorf("%s takes no pattern", tool)
}

func compileBash(p pattern) (pattern, error) {
	if why := refusedBytes(Request{Tool: toolBash, Command: p.text}); why != "" {
		return pattern{}, errors.New(why)
	}
	p.kind = matchExact
	if prefix, ok := strings.CutSuffix(p.text, ":*"); ok {
		p.kind, p.text = matchPrefix, prefix
	}
	if prefix, ok := strings.CutSuffix(p.text, " *"); ok && p.kind == matchExact {
		p.kind, p.text = matchPrefix, strings.TrimRight(prefix, " ") // Bash(git log *) is Bash(git log:*)
	}
	if p.Effect != Allow && strings.Contains(p.text, "*") {
		return pattern{}, errors.New("a deny or ask rule knows no wildcard but :* or a word * at its end")
	}
	words, one := simpleWords(p.text), true
	if words == nil {
		words, one = oneCommand(p.text)
	}
	if !one && toolName(p.text) {
		words, one = []word{literal(p.text)}, true // a reserved word, such as time or export
	}
	if p.kind == matchPrefix {
		if !one {
			return pattern{}, errors.New("before :* stand plain words of one command")
		}
		for _, w := range words {
			if !w.known {
				return pattern{}, errors.New("before :* stand literal words")
			}
		}
	}
	if one {
		p.argv = words
	}
	return p, nil
}

// simpleWords splits a text of bytes that mean nothing to the shell, or returns
// nil. Most rules are such, and parsing them would be most of a decision's cost.
func simpleWords(text string) []word {
	for i := range len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_./:@%+- ", c) >= 0) {
			return nil
		}
	}
	var words []word
	for _, f := range strings.Fields(text) {
		words = append(words, literal(f))
	}
	return words
}

func compilePath(p pattern) (pattern, error) {
	p.kind = matchPath
	g := p.text
	if strings.HasSuffix(g, "/") {
		g += "**"
	}
	p.text = g
	rest := g
	for strings.HasPrefix(rest, "../") {
		rest = rest[3:]
	}
	switch {
	case g == "":
		return pattern{}, errors.New("the pattern is empty")
	case len(g) > maxPathGlob:
		return pattern{}, fmt.Errorf("the pattern has %d bytes, the limit is %d", len(g), maxPathGlob)
	case strings.Count(g, "**") > maxGlobStars || strings.Count(g, "{") > 4:
		return pattern{}, errors.New("the pattern has too many ** or {")
	case strings.IndexByte(g, 0) >= 0 || !doublestar.ValidatePattern(g):
		return pattern{}, errors.New("the pattern is not a valid glob")
	case strings.HasPrefix(g, "~") && !strings.HasPrefix(g, "~/"):
		return pattern{}, errors.New("only ~/ is understood, not ~user")
	case rest == ".." || strings.Contains(rest, "/../") || strings.HasSuffix(rest, "/.."):
		return pattern{}, errors.New("the pattern may contain .. only at its beginning")
	}
	return p, nil
}

func toolName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '-')) {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// bindsTool reports that the rule is about this tool: the tool itself, one of
// its family, or a server's tool.
func (p pattern) bindsTool(tool string) bool {
	switch p.tool {
	case tool:
		return true
	case toolBash:
		return tool == toolBashInput && p.Effect != Allow
	case toolEdit:
		return tool == toolWrite
	case toolRead:
		reads := tool == toolGlob || tool == toolGrep || tool == toolArtifact
		edits := tool == toolEdit || tool == toolWrite
		return reads || edits && p.Effect != Allow
	}
	return strings.HasPrefix(p.tool, "mcp__") && strings.HasPrefix(tool, p.tool+"__")
}
