package permission

import (
	"errors"
	"fmt"
	"strings"
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

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
