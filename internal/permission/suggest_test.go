package permission

import (
	"strings"
	"testing"
)

// A suggested rule allows the call it was made for, and not its neighbours.
func TestSuggest(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want string
	}{
		{bash("npm test"), "Bash(npm test)"},
		{bash("a | b > c; $(d)"), "Bash(a | b > c; $(d))"},
		{bash("echo ')'"), "Bash(echo ')')"},
		{bash("rm *.o"), "Bash(rm *.o)"},
		{bash("ls *"), ""},
		{bash("git:*"), ""},
		{bash("echo a:*"), ""},
		{bash("*"), ""},
		{bash("ls -l :*"), ""},
		{Request{Tool: "Read", Path: "/"}, ""},
		{Request{Tool: "Read", Path: "/x", Pattern: "../y"}, ""}, // the rule would not cover it
		{Request{Tool: "Write", Path: "/."}, ""},
		{bash("perdure answer x"), ""},
		{bash("a\x00"), ""},
		{bash("ls "), "Bash(ls )"},
		{Request{Tool: "Edit", Path: "/x/a b"}, "Edit(/x/a b)"},
		{Request{Tool: "Write", Path: "/x/[a]*{b}?"}, `Write(/x/\[a\]\*\{b\}\?)`},
		{Request{Tool: "Edit", Path: "x"}, ""},
		{Request{Tool: "Edit", Path: "/x\u202e"}, ""},
		{Request{Tool: "Read", Path: "/x/../y"}, "Read(/y)"},
		{Request{Tool: "Grep", Path: "/x"}, "Read(/x/**)"},
		{Request{Tool: "Glob", Path: "/"}, "Read(/**)"},
		{Request{Tool: "Glob", Path: "/x", Pattern: "../y"}, ""},
		{Request{Tool: "mcp__a__b"}, "mcp__a__b"},
		{Request{Tool: "KillBash"}, ""},
		{Request{Tool: "bad name"}, ""},
	} {
		got := Suggest(c.r)
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
		if got == "" {
			continue
		}
		p := Policy{Cwd: testCwd, Grants: []Rule{{Effect: Allow, Text: got, Source: SourceSession}}}
		if d := Decide(p, c.r); d.Effect != Allow {
			t.Errorf("%q does not allow its own call: %+v", got, d)
		}
		other := c.r
		other.Command, other.Path, other.Tool = c.r.Command+" x", c.r.Path+"x", c.r.Tool+"x"
		if c.r.Tool == "Bash" || c.r.Tool == "Edit" {
			other.Tool = c.r.Tool
		}
		if d := Decide(p, other); d.Effect == Allow {
			t.Errorf("%q allows %+v", got, other)
		}
	}
}

func TestWarning(t *testing.T) {
	for text, want := range map[string]string{
		"Bash(git:*)": "broad", "Bash": "every command", "Bash(*)": "every command", "Bash(python:*)": "still ask", "Bash(git config:*)": "still ask", "Bash(rm:*)": "any file", "Bash(cd:*)": "anywhere",
		"Edit": "outside", "Read": "secrets", "Edit(/**)": "every file", "Bash(*rm:*)": "cannot be read", "Bash(rm *)": "any file",
		"Bash(git commit:*)": "hooks", "Bash(git push:*)": "hooks", "Bash(git checkout:*)": "hooks", "Bash(git fetch:*)": "hooks",
		"Bash(git status:*)": "configures", "Bash(git log:*)": "configures", "Bash(git diff --stat:*)": "configures", "Bash(git --no-pager show:*)": "configures",
		"Bash(git rev-parse:*)": "", "Bash(git ls-tree:*)": "", "Bash(git merge-base:*)": "", "Bash(npm test)": "", "Edit(src/**)": "", "Bash(go test:*)": "", "mcp__x": "",
	} {
		got := Warning(Rule{Effect: Allow, Text: text, Source: SourceSession})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := Warning(Rule{Effect: Allow, Text: "Read(src/**)", Source: SourceProject}); !strings.Contains(got, "no effect") {
		t.Errorf("project: %q", got)
	}
	if got := Warning(Rule{Effect: Deny, Text: "Bash"}); got != "" {
		t.Errorf("deny: %q", got)
	}
}
