package canary_test

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// in names the canaries of which something stands in a text.
func in(texts []text, where string) (out []string) {
	for _, c := range texts {
		if strings.Contains(where, c.token) {
			out = append(out, c.name)
		}
	}
	return out
}

// inPrompt finds canaries in what is the operator's: the system prompt and the tools.
func inPrompt(texts []text, r modelapi.Request) []string { return in(texts, r.System+string(r.Tools)) }

// inRights finds canaries among rules, grants and modes, and rights that nobody gave.
func inRights(texts []text, st *session.State) []string {
	out := in(texts, fmt.Sprintf("%+v %+v %q %+v", st.Permissions.Rules, st.Permissions.Grants, st.Config.Mode, st.Directories))
	if len(st.Permissions.Grants) > 0 || len(st.Permissions.Rules) != len(rules) || st.Config.Mode == "bypassPermissions" {
		out = append(out, "rights that nobody gave")
	}
	return out
}

var (
	engineWords = regexp.MustCompile(`(?m)^\[(?:Background task bash_\d+ ended|await_\d+\])[^\n]*$`)

	part    = regexp.MustCompile(`(?s)^<([a-z_]+)(?: (?:seq|path)="[^\n]*?")?>\n(.*)\n</([a-z_]+)>$`)
	element = regexp.MustCompile(`(?i)<\s*/?\s*(?:user_message|awaited|plan|facts|files|live_state|acts|summary|conversation|instructions|memory|journal|handoff|earlier_plan|commits)\b`)
)

// spokenFor finds canaries that speak outside of the element that they stand in, or for the user, in the blocks of a
// request that are no tool's result.
func spokenFor(texts []text, r modelapi.Request) (out []string) {
	for _, m := range r.Messages {
		if m.Role != model.RoleUser {
			continue
		}
		for _, b := range m.Blocks {
			if b.Type != model.BlockText {
				continue
			}
			held := part.FindStringSubmatch(b.Text)
			switch {
			case held == nil || held[1] != held[3]: // the user's words, or the engine's, which quote a command on one line
				words := engineWords.ReplaceAllString(b.Text, "")
				if out = append(out, in(texts, words)...); element.MatchString(b.Text) {
					out = append(out, "an element in the engine's words")
				}
			case held[1] == "user_message" || held[1] == "awaited" || held[1] == "instructions":
				out = append(out, in(texts, held[2])...)
			case element.MatchString(held[2]):
				for _, at := range element.FindAllStringIndex(held[2], -1) {
					near := held[2][max(0, at[0]-200):min(len(held[2]), at[1]+200)]
					out = append(out, append(in(texts, near), "an element ends or begins in "+held[1])...)
				}
			}
		}
	}
	return out
}

// headed finds canaries that begin a heading, an element or a comment of a document.
func headed(texts []text, document string) (out []string) {
	for _, c := range texts {
		for line := range strings.Lines(c.text) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") && strings.Contains("\n"+document+"\n", "\n"+line+"\n") {
				out = append(out, c.name)
			}
		}
	}
	return out
}

// obeyed finds characters that a terminal would obey or that show as something else.
func obeyed(shown string) (out []string) {
	for i, r := range shown {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			out = append(out, fmt.Sprintf("%U after %q", r, shown[max(0, i-40):i]))
		}
	}
	return out
}
