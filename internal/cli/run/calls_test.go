package run_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a command that a run hints at names the session as briefly as it is found, where a person reads it, and whole
// elsewhere, where a program may.
func TestHintsOfARunNameTheSessionBriefly(t *testing.T) {
	const glob = `{"tools":[{"name":"Glob","input":{"pattern":"*"}}]}`
	whole := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	for name, c := range map[string]struct {
		steps string
		args  []string
		hints string // a command that one of them begins with
	}{
		"out of steps":  {glob + "," + glob, []string{"--max-turns", "1"}, "perdure -p --resume "},
		"waits":         {`{"tools":[{"name":"Bash","input":{"command":"touch x"}},{"name":"Bash","input":{"command":"touch y"}}]}`, nil, "perdure approvals allow --all "},
		"failed":        {`{"text":"x","fail":[{"class":"auth","status":401,"message":"no"}]}`, nil, "perdure -p --resume "},
		"does not fit":  {`{"text":"x","fail":[{"class":"context","status":400,"message":"too long"}]}`, []string{"--no-compact"}, "perdure -p --resume "},
		"a bad request": {glob + `,{"text":"x","fail":[{"class":"invalid","status":400,"message":"bad"}]}`, nil, "perdure fork "},
	} {
		t.Run(name, func(t *testing.T) {
			for _, screen := range []bool{true, false} {
				w := clitest.New(t)
				w.App.Screen = screen
				model := w.Scripted(`{"turns":[{"match":"one","steps":[{"text":"one"}]},{"match":"go","steps":[` + c.steps + `]}]}`)
				w.OK("-p", "--model", model, "one")
				o := w.Run(append([]string{"-p", "-c"}, append(c.args, "go")...)...)
				found := false
				for line := range strings.Lines(o.Stderr) {
					_, hint, ok := strings.Cut(line, "perdure ")
					if !ok || !strings.HasPrefix(line, "  ") {
						continue
					}
					found = found || strings.HasPrefix("perdure "+hint, c.hints)
					if screen && whole.MatchString(hint) || !screen && strings.Contains(hint, c.hints) && !whole.MatchString(hint) {
						t.Errorf("on the screen %t: %s", screen, line)
					}
				}
				if o.Code == 0 || !found {
					t.Errorf("on the screen %t: exit %d, no hint %q: %s", screen, o.Code, c.hints, o.Stderr)
				}
			}
		})
	}
}
