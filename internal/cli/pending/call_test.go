package pending

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/asks"
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
	looks := map[string]asks.Look{}
	for _, r := range Rows(w, LinesInList) {
		looks[strings.TrimSpace(r.Text)] = r.Look
	}
	if looks["+a"] != asks.Added || looks["because no rule"] != asks.About || looks["works on /none/x"] != asks.About || looks["--- /dev/null"] != asks.Aside {
		t.Errorf("%v", looks)
	}
}

// Where one can scroll nothing is left out of the middle of a long line; what is left out of one that is longer still
// says so by its look, which no text can have by itself.
func TestALongLineIsWholeOnAPage(t *testing.T) {
	rows := func(command string, most int) (text string, left int) {
		input, _ := json.Marshal(map[string]string{"command": command})
		for _, r := range Rows(Wait{Call: &session.Call{Tool: "Bash", Input: input, Approval: &session.Approval{Cwd: "/p"}}}, most) {
			if text += r.Text + "\n"; r.Look == Left {
				left++
			}
		}
		return text, left
	}
	long := "python3 -c '" + strings.Repeat("a=1;", 2000) + "evil()" + strings.Repeat("b=1;", 2000) + "'"
	if text, left := rows(long, LinesOnPage); !strings.Contains(text, long) || left != 0 {
		t.Errorf("%d left out of %d bytes of %d", left, len(text), len(long))
	}
	if text, left := rows(long, LinesInList); strings.Contains(text, "evil") || left != 1 {
		t.Errorf("%d left out: %.2000s", left, text)
	}
	if _, left := rows(strings.Repeat(long, 10), LinesOnPage); left != 1 {
		t.Errorf("%d left out", left)
	}
	if _, left := rows("echo '… 5 lines left out …9 characters left out…'", LinesOnPage); left != 0 {
		t.Error("a text is taken for what is left out")
	}
	if _, left := rows("true\n"+strings.Repeat("ls\n", LinesOnPage), LinesOnPage); left != 1 {
		t.Errorf("%d left out", left)
	}
}
