package complete_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// offered is what the hidden command of the completion scripts offers for a command line, without the descriptions.
func offered(w *clitest.World, args ...string) []string {
	w.T.Helper()
	var out []string
	for line := range strings.Lines(w.OK(append([]string{"__complete"}, args...)...)) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" && word[0] != ':' {
			out = append(out, word)
		}
	}
	slices.Sort(out)
	return out
}

// Sessions, names, tasks, what waits, grants and the values of flags are offered where they can stand.
func TestCompletionOffers(t *testing.T) {
	w := clitest.New(t)
	user := store.Actor{Type: store.ActorUser}
	w.Create("s1")
	w.OK("rename", "s1", "parser")
	w.Append("s1", user, &session.PermissionGranted{Rule: "Bash(make)", Scope: "session"})
	w.Append("s1", user, &session.MessageReceived{Content: []model.Part{model.TextPart("hi")}})
	w.Append("s1", user, &session.TurnStarted{N: 1, Message: 3})
	w.Asked("s1", "t1.s1.b1.a1")
	w.Task("s1", "bash_1", "exit 0", 0)
	clitest.WriteFile(t, filepath.Join(w.Dir, ".config", "perdure", "allowed.toml"), "[[allow]]\nrule = 'Bash(make:*)'\nat = 2026-01-02T03:04:05Z\n")
	for _, c := range []struct {
		args, want string
	}{
		{"show |", "parser s1"},
		{"show|par", "parser"},
		{"show|s1|", ""},
		{"-p|-r|", "parser s1"},
		{"-p|--resume=par", "parser"},
		{"--permission-mode|p", "plan"},
		{"search|x|--in|", "handoffs journal memory sessions"},
		{"--output-format|st", "stream-json"},
		{"list|--activity|as", "asleep"},
		{"list|--lifecycle|c", "closed"},
		{"task|run|--lifetime|", "detached session turn"},
		{"usage|--by|d", "day directory"},
		{"answer|", "s1:t1.s1.b1.a1"},
		{"approvals|allow|", ""},
		{"permissions|revoke|s1|", "Bash(make)"},
		{"permissions|forget|", "Bash(make:*)"},
		{"task|wait|", "s1"},
		{"task|output|s1|", "bash_1"},
		{"completion|z", "zsh"},
		{"config|get|limits.c", "limits.cpu"},
		{"config|set|model|", ""},
		{"export|s1|--format|h", "html"},
		{"export|", "parser s1"},
	} {
		args := strings.Split(strings.ReplaceAll(c.args, " ", ""), "|")
		if got := strings.Join(offered(w, args...), " "); got != c.want {
			t.Errorf("%s: offered %q, want %q", c.args, got, c.want)
		}
	}
}

// What is offered is what the verb can act on: tasks that run for what reaches into them, sessions that can be moved, and
// each of them once.
func TestCompletionNarrows(t *testing.T) {
	w := clitest.New(t)
	live := w.RunTask("--name", "live", "--stdin", "--", "sh", "-c", "echo up; exec sleep 300")
	w.OK("task", "run", "--session", live, "--", "sleep", "300")
	ended := w.RunTask("--name", "gone", "--", "echo", "gone")
	w.AwaitTask(ended, "bash_1", "exited")
	for _, id := range []string{"open", "paused", "closed"} {
		w.Create(id)
	}
	w.OK("pause", "paused")
	w.OK("close", "closed")
	w.Create("asks")
	w.Prompt("asks", clitest.Asking("Bash", map[string]string{"command": "touch made"}), "go", "")
	w.Abroad("open")
	all := func(words ...string) string {
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	for _, c := range []struct{ args, want string }{
		{"task kill ", all("live", live)},
		{"task kill live ", all("bash_1", "live", "bash_2")},
		{"task kill live bash_1 ", "bash_2"},
		{"task kill live --all --except ", all("bash_1", "live", "bash_2")},
		{"task attach ", all("live", live)},
		{"task write ", all("live", live)},
		{"task write live ", all("bash_1", "live")},
		{"task output gone ", all("bash_1", "gone")},
		{"task restart-policy gone ", all("bash_1", "gone", "never", "on-reboot")},
		{"task restart-policy gone bash_1 ", "never on-reboot"},
		{"reopen ", "closed paused"},
		{"takeover ", "open"},
		{"approvals list ", "asks"},
		{"approvals allow --all ", "asks"},
		{"approvals allow asks --scope ", "once pattern project session user"},
		{"approvals allow as", "asks:t1.s1.b2.a1"},
		{"task background ", ""},
	} {
		args := strings.Split(c.args, " ")
		if got := strings.Join(offered(w, args...), " "); got != c.want {
			t.Errorf("%s: offered %q, want %q", c.args, got, c.want)
		}
	}
	for verb, not := range map[string]string{"close": "closed", "pause": "paused", "send": "closed"} {
		if got := offered(w, verb, ""); slices.Contains(got, not) || !slices.Contains(got, "asks") {
			t.Errorf("%s: offered %v", verb, got)
		}
	}
	if got := offered(w, "task", "output", ""); !slices.Contains(got, "gone") || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("output: offered %v", got)
	}
}

// A name that a terminal would obey, or that is several lines, is not offered: it may come from a bundle. Its session is,
// by its id.
func TestCompletionOffersNoHiddenNames(t *testing.T) {
	w := clitest.New(t)
	for id, title := range map[string]string{"s1": "plain", "s2": "a\x1b]0;x\x07b", "s3": "two\nlines", "s4": "tab\tbed", "s5": "tur\u202ened", "s6": ":4"} {
		w.Create(id)
		w.Append(id, store.Actor{Type: store.ActorUser}, &session.Labelled{Title: &title})
	}
	if got, want := strings.Join(offered(w, "show", ""), " "), "plain s1 s2 s3 s4 s5 s6"; got != want {
		t.Errorf("offered %q, want %q", got, want)
	}
}

// The bash script works where the package bash-completion is not installed, also for ids with a colon.
func TestCompletionInPlainBash(t *testing.T) {
	w := clitest.New(t)
	user := store.Actor{Type: store.ActorUser}
	w.Create("s1")
	w.Append("s1", user, &session.MessageReceived{Content: []model.Part{model.TextPart("hi")}})
	w.Append("s1", user, &session.TurnStarted{N: 1, Message: 3})
	w.Asked("s1", "t1.s1.b1.a1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	wrapper := "#!/bin/bash\nall=$(printf '%s\\n' \"$@\"; echo .)\nexport CLI_TEST_ARGS=${all%$'\\n'.}\nexec " + self + "\n"
	if err := os.WriteFile(filepath.Join(bin, "perdure"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(bin, "completion")
	if err := os.WriteFile(script, []byte(w.OK("completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"perdure show s", "s1"},
		{"perdure answer s1:t1", "t1.s1.b1.a1"}, // bash has the part before the colon as a word of its own,
		{"perdure list --activity wai", "waiting"},
		{"perdure task re", "restart restart-policy restore"},
	} {
		run := fmt.Sprintf(`source %s; COMP_LINE=%q; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; COMP_WORDS=($COMP_LINE)
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; __start_perdure; echo "${COMPREPLY[@]%%%% *}"`, script, c.line)
		cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-c", run)
		cmd.Env = append(slices.Clone(w.App.Environ), "PATH="+bin+":"+os.Getenv("PATH"))
		cmd.Dir = w.Dir
		out, err := cmd.CombinedOutput()
		if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.line, got, err, c.want)
		}
	}
}
