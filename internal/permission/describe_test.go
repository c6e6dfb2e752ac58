package permission

import "testing"

// What a rule is about is said in words that are right about what it matches, and of one that is not understood nothing is
// claimed.
func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"Bash":                  "every command",
		"Bash(*)":               "every command",
		"Bash(git log:*)":       "commands that begin with git log",
		"Bash(git log *)":       "commands that begin with git log",
		"Bash(npm test)":        "the command npm test",
		"Bash(echo '(x)')":      "the command echo '(x)'",
		"Read":                  "reading any file",
		"Edit(src/**)":          "changing every file below src",
		"Edit(/home/me/**)":     "changing every file below /home/me",
		"Write(*.md)":           "writing files named as in *.md",
		"Write(docs/*/**)":      "writing files named as in docs/*/**",
		"Read(/etc/hosts)":      "reading /etc/hosts",
		"Task":                  "every call of Task",
		"Bash(open":             "this version does not understand it",
		"Teleport(everywhere)":  "this version does not understand it",
		"Edit(日本語 と.txt)":       "changing 日本語 と.txt",
		"mcp__tracker__comment": "every call of mcp__tracker__comment",
	} {
		if got := Describe(Rule{Effect: Allow, Text: text}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
