package permission

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/invalid"
	"github.com/perdure/perdure/internal/session"
)

// ErrRule is wrapped by every error about a rule text.
var ErrRule = invalid.New("invalid permission rule")

// Where a rule comes from.
const (
	SourceFlag    = "flag"
	SourceUser    = "user"
	SourceSession = "session"
	// SourceRemembered is a rule that a person had perdure remember for every session, SourceHere one for the sessions of
	// one project: that holds only while they work in it.
	SourceRemembered = "remembered"
	SourceHere       = "remembered here"
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

// RuleTool is the name of the tool that a rule text is about.
func RuleTool(text string) string {
	tool, _, _ := strings.Cut(text, "(")
	return tool
}

// ParseRules splits a list as --allowed-tools takes it, at commas and blanks
// outside parentheses, and checks every text. An empty list gives no rules. Its
// errors wrap ErrRule and name the place.
func ParseRules(list string) ([]string, error) {
	if len(list) > maxRuleList {
		return nil, fmt.Errorf("parse rules: %w: %d bytes, the limit is %d", ErrRule, len(list), maxRuleList)
	}
	var texts []string
	open := true // a comma wants a rule before it, and one after it
	for at := 0; at < len(list); {
		if c := list[at]; strings.IndexByte(", \t\n", c) >= 0 {
			if c == ',' && open {
				return nil, fmt.Errorf("parse rules at byte %d: %w: a comma without a rule before it", at, ErrRule)
			}
			open = open || c == ','
			at++
			continue
		}
		open = false
		n, err := ruleLength(list, at)
		if err != nil {
			return nil, err
		}
		text := list[at : at+n]
		if _, err := compile(Rule{Effect: Allow, Text: text}); err != nil {
			if text[0] == '(' && len(texts) > 0 {
				err = fmt.Errorf("no blank stands between %s and its parenthesis", clip(texts[len(texts)-1]))
			}
			place := "" // of a single rule its text says enough
			if at > 0 {
				place = fmt.Sprintf(" at byte %d", at)
			}
			return nil, fmt.Errorf("parse rules%s: %w: %q: %w", place, ErrRule, clip(text), err)
		}
		if texts = append(texts, text); len(texts) > maxRules {
			return nil, fmt.Errorf("parse rules: %w: more than %d rules", ErrRule, maxRules)
		}
		at += n
	}
	if open && len(texts) > 0 {
		return nil, fmt.Errorf("parse rules at byte %d: %w: a comma without a rule after it", len(list), ErrRule)
	}
	return texts, nil
}

// ruleLength is how many bytes the rule has that begins at a byte of a list.
func ruleLength(list string, from int) (int, error) {
	depth := 0
	for i := from; i < len(list); i++ {
		switch c := list[i]; {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return 0, fmt.Errorf("parse rules at byte %d: %w: a parenthesis closes nothing", i, ErrRule)
			}
			if depth == 0 && i+1 < len(list) && strings.IndexByte(", \t\n)", list[i+1]) < 0 {
				return 0, fmt.Errorf("parse rules at byte %d: %w: text after the closing parenthesis; separate rules by commas or blanks", i+1, ErrRule)
			}
		case depth == 0 && strings.IndexByte(", \t\n", c) >= 0:
			return i - from, nil
		}
	}
	if depth != 0 {
		return 0, fmt.Errorf("parse rules at byte %d: %w: a parenthesis of %q is not closed", from, ErrRule, clip(list[from:]))
	}
	return len(list) - from, nil
}

func clip(s string) string {
	if head := session.CutEnd(s, 80); len(head) < len(s) {
		return head + "…"
	}
	return s
}
