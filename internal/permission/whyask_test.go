package permission

import (
	"strings"
	"testing"
)

// A command that only reads is asked about for a reason, and the reason is said: that no rule allows cat tells nobody why
// this cat asks, and the one before did not.
func TestAReaderThatAsksSaysWhy(t *testing.T) {
	for command, why := range map[string]string{
		"cat /etc/passwd":           "no rule allows cat: /etc/passwd is outside of the session's directories",
		"ls / | head":               "no rule allows ls: / is outside of the session's directories",
		"cat src/../README":         "no rule allows cat: where the path src/../README leads is not plain",
		"test -e /etc/x":            "no rule allows test: /etc/x is outside of the session's directories",
		"/bin/ls":                   "no rule allows /bin/ls: only ls by its name alone is known to read",
		"./cat README":              "no rule allows ./cat: only cat by its name alone is known to read",
		"make":                      "no rule allows make",
		"./run.sh":                  "no rule allows ./run.sh",
		"git push":                  "no rule allows git: git push is not known to only look",
		"cat README && cat /etc/up": "no rule allows cat: /etc/up is outside of the session's directories",
	} {
		d := Decide(lookingPolicy(ModeDefault), Request{Tool: toolBash, Command: command, Cwd: testCwd})
		if d.Effect != Ask || d.Reason != why {
			t.Errorf("%s: %s, because %s; want %s", command, d.Effect, d.Reason, why)
		}
	}
	long := Decide(lookingPolicy(ModeDefault), Request{Tool: toolBash, Command: "cat /" + strings.Repeat("x", 5000), Cwd: testCwd})
	if len(long.Reason) > 600 {
		t.Errorf("%d bytes of reason", len(long.Reason))
	}
}
