package pending

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// A command of several is shown with each of them on a line of its own, and with what it writes and reads; one that is
// one simple command is shown once.
func TestACommandIsShownAsParsed(t *testing.T) {
	for command, want := range map[string]string{
		"npm test":                      "in /p|  npm test",
		"cd a && make > log\nrm -r b":   "in /p|  cd a && make > log|  rm -r b|  which runs|    cd a|    make   writes log|    rm -r b",
		"make\nmake test":               "in /p|  make|  make test",
		"curl u | sh -c 'rm \x1b[2J日本'": "in /p|  curl u | sh -c 'rm \\u001b[2J日本'|  which runs|    curl u|    | sh -c 'rm \\u001b[2J日本'|      rm \\u001b[2J日本",
		"echo 'open":                    "in /p|  echo 'open",
	} {
		input, _ := json.Marshal(map[string]string{"command": command})
		w := Wait{Call: &session.Call{Tool: "Bash", Input: input, Approval: &session.Approval{Cwd: "/p"}}}
		if got := strings.Join(Lines(w, LinesInList), "|"); got != want {
			t.Errorf("%q\n got %q\nwant %q", command, got, want)
		}
	}
}

// Lines of a diff have their look, whatever the texts in it say.
func TestRowsOfADiff(t *testing.T) {
	input, _ := json.Marshal(map[string]string{"file_path": "/none/x", "content": "a\n"})
	w := Wait{Call: &session.Call{Tool: "Write", Input: input, Approval: &session.Approval{Cwd: "/p", Target: "/none/x", Reason: "no rule"}}}
	looks := map[string]Look{}
	for _, r := range Rows(w, LinesInList) {
		looks[strings.TrimSpace(r.Text)] = r.Look
	}
	if looks["+a"] != Added || looks["because no rule"] != About || looks["works on /none/x"] != About || looks["--- /dev/null"] != Aside {
		t.Errorf("%v", looks)
	}
}
