package permission

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ErrRule is wrapped by every error about a rule text.
var ErrRule = errors.New("invalid permission rule")

// Where a rule comes from.
const (
	SourceFlag    = "flag"
	SourceUser    = "user"
	SourceSession = "session"
	// SourceProject is a project file that no human has trusted: its deny and
	// ask rules hold, its allow rules are never matched.
	SourceProject = "project"
	// SourceTrusted is a project file trusted for its present digest.
	SourceTrusted = "trusted"
)

// Rule is one permission rule or grant. It is data: it is parsed when used, and
// a text that this version cannot parse makes a deny or ask rule ask for every
// call, and an allow rule match none.
type Rule struct {
	Effect Effect `json:"effect"`
	Text   string `json:"text"`   // Bash(git log:*)
	Source string `json:"source"` // one of the Source constants
}

// Bounds of rule texts and lists.
const (
	maxRuleText  = maxCommand + 256
	maxRuleList  = 256 << 10
	maxRules     = 4096
	maxPathGlob  = 1024
	maxGlobStars = 8
)

// ParseRule checks one rule. The tool's name ends at the first parenthesis and
// the last byte must close it, so a pattern may itself hold parentheses. Its
// errors wrap ErrRule.
func ParseRule(effect Effect, text, source string) (Rule, error) {
	r := Rule{Effect: effect, Text: text, Source: source}
	switch effect {
	case Allow, Ask, Deny:
	default:
		return Rule{}, fmt.Errorf("parse rule %q: %w: effect %q", text, ErrRule, effect)
	}
	if _, err := compile(r); err != nil {
		return Rule{}, fmt.Errorf("parse rule %q: %w: %w", clip(text), ErrRule, err)
	}
	return r, nil
}

// ParseRules splits a list as --allowed-tools takes it, at commas outside
// parentheses, and checks every text. Blanks around a text are dropped, an empty
// list gives no rules. Its errors wrap ErrRule.
func ParseRules(list string) ([]string, error) {
	if len(list) > maxRuleList {
		return nil, fmt.Errorf("parse rules: %w: %d bytes, the limit is %d", ErrRule, len(list), maxRuleList)
	}
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	parts, err := splitRules(list)
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(parts))
	for _, part := range parts {
		text := strings.Trim(part, " \t\n")
		if _, err := ParseRule(Allow, text, SourceFlag); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func splitRules(list string) ([]string, error) {
	var parts []string
	depth, start, closed := 0, 0, false
	for i := range len(list) {
		c := list[i]
		switch {
		case c == ',' && depth == 0:
			parts, start, closed = append(parts, list[start:i]), i+1, false
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return nil, fmt.Errorf("parse rules at byte %d: %w: a parenthesis closes nothing", i, ErrRule)
			}
			closed = depth == 0
			continue
		}
		if closed && c != ' ' && c != '\t' && c != '\n' {
			return nil, fmt.Errorf("parse rules at byte %d: %w: text after the closing parenthesis; separate rules by commas", i, ErrRule)
		}
		if len(parts) >= maxRules {
			return nil, fmt.Errorf("parse rules: %w: more than %d rules", ErrRule, maxRules)
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("parse rules: %w: a parenthesis is not closed", ErrRule)
	}
	return append(parts, list[start:]), nil
}

// matchKind says how a compiled rule compares.
type matchKind int

const (
	matchTool   matchKind = iota // the tool alone
	matchExact                   // Bash(text)
	matchPrefix                  // Bash(words:*)
	matchPath                    // Edit(glob)
)

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
	case toolRead, toolEdit, toolWrite, toolGlob, toolGrep:
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
	if strings.HasSuffix(p.text, " *") {
		return pattern{}, errors.New("for any further arguments write Bash(command:*)")
	}
	if p.Effect != Allow && strings.Contains(p.text, "*") {
		return pattern{}, errors.New("a deny or ask rule knows no wildcard but :* at its end")
	}
	words, one := oneCommand(p.text)
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
	case toolEdit:
		return tool == toolWrite
	case toolRead:
		reads := tool == toolGlob || tool == toolGrep
		edits := tool == toolEdit || tool == toolWrite
		return reads || edits && p.Effect != Allow
	}
	return strings.HasPrefix(p.tool, "mcp__") && strings.HasPrefix(tool, p.tool+"__")
}

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

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
