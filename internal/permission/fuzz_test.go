package permission

import (
	"strings"
	"testing"
)

// FuzzDecide looks for panics, for a deny rule that a mode or an allow rule
// undoes, and for answers that depend on anything but their inputs.
func FuzzDecide(f *testing.F) {
	for _, seed := range []string{"git status", "rm x", "sudo sh -c 'rm x'", "ls $(rm x)", "cat <<E\n`rm x`\nE", "ls # \\\nrm x", "f() { rm x; }", "$'\\x72m'", "cd .git; cat x", "perdure answer x", "a=(b [c]=d) export X[1]=2", "[[ a =~ b ]]", "${a@P}"} {
		f.Add(seed, "Bash(git:*)", "src/a.go")
	}
	f.Fuzz(func(t *testing.T, command, rule, path string) {
		for _, r := range []Request{bash(command), {Tool: "Edit", Path: "/" + path, RawPath: path}, {Tool: "Glob", Path: path, Pattern: path}, {Tool: command}} {
			for _, mode := range []Mode{ModeDefault, ModePlan, ModeBypass} {
				p := testPolicy(mode, "deny Bash(rm:*)", "deny Edit(src/**)")
				strict := Decide(p, r)
				p.Rules = append(p.Rules, Rule{Effect: Allow, Text: rule})
				loose := Decide(p, r)
				if rank(loose.Effect) < rank(strict.Effect) || strict.Effect == Deny && loose.Effect != Deny {
					t.Fatalf("allow %q turns %+v into %+v", rule, strict, loose)
				}
				if loose.Refused != strict.Refused || loose.Reason == "" || loose != Decide(p, r) {
					t.Fatalf("%+v, then %+v", strict, loose)
				}
				p.Rules = append(p.Rules, Rule{Effect: Deny, Text: rule})
				if d := Decide(p, r); rank(d.Effect) > rank(loose.Effect) {
					t.Fatalf("deny %q turns %+v into %+v", rule, loose, d)
				}
			}
			if text := Suggest(r); text != "" && !Matches(Rule{Effect: Allow, Text: text}, r) {
				t.Fatalf("%q does not match what it was suggested for", text)
			}
		}
	})
}

// FuzzParseRules looks for panics and for lists that split otherwise than they join.
func FuzzParseRules(f *testing.F) {
	for _, seed := range []string{"Bash(git:*),Edit(src/**)", "Read, Bash(echo (a, b))", "mcp__a__b", "Bash(:*)", "a(b", ",", "Edit([a-)", "Bash($'\\x41':*)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		texts, err := ParseRules(list)
		if err != nil {
			return
		}
		again, err := ParseRules(strings.Join(texts, ","))
		if err != nil || strings.Join(again, "\x00") != strings.Join(texts, "\x00") {
			t.Fatalf("%q splits into %q, and that into %q, %v", list, texts, again, err)
		}
		for _, text := range texts {
			rule := Rule{Effect: Allow, Text: text}
			Warning(rule)
			Matches(rule, bash("git status"))
			rule.Effect = Deny
			Decide(Policy{Rules: []Rule{rule}}, Request{Tool: "Edit", Path: "/x"})
		}
	})
}
