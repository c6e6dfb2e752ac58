package run_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a session gets its name when it is opened, and else can be told by the first words of its prompt. Those are no
// name: a prompt that is the name of another session does not make that name ambiguous.
func TestNameAtOpening(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(clitest.SaysYes)
	w.OK("-p", "--session-id", "one", "--name", "parser work", "--model", m, "make the parser faster")
	if out := w.OK("show", "parser work", "--json"); !strings.Contains(out, `"title":"parser work"`) || !strings.Contains(out, `"prompt":"make the parser faster"`) {
		t.Errorf("neither name nor first words: %s", out)
	}
	w.OK("-p", "--session-id", "two", "--model", m, "parser work")
	if out := w.OK("show", "parser work", "--json"); !strings.Contains(out, `"id":"one"`) {
		t.Errorf("the name leads elsewhere now: %s", out)
	}
	long := "first line\n" + strings.Repeat("word ", 40)
	w.OK("-p", "--session-id", "three", "--model", m, long)
	if out := w.OK("show", "three", "--json"); !strings.Contains(out, `"prompt":"first line word word word word word word word word word…"`) {
		t.Errorf("the first words are not cut at a word: %s", out)
	}
	w.OK("-p", "-r", "one", "--fork-session", "--session-id", "four", "--name", "the fork", "go on")
	if out := w.OK("show", "the fork", "--json"); !strings.Contains(out, `"id":"four"`) {
		t.Errorf("the fork has no name: %s", out)
	}
	w.Fails(app.ExitUsage, "perdure rename ID NAME", "-p", "-r", "one", "--name", "other", "go on")
	w.Fails(app.ExitUsage, "a name cannot be empty", "-p", "--name", " ", "hello")
}

// Goal: a secret in the first prompt is not in the words that lists show.
func TestFirstWordsHideSecrets(t *testing.T) {
	w := clitest.New(t)
	w.App.Environ = append(w.App.Environ, "ANTHROPIC_API_KEY=sk-ant-0123456789abcdef")
	w.OK("-p", "--session-id", "one", "--model", w.Scripted(clitest.SaysYes), strings.Repeat("a word ", 6)+"sk-ant-0123456789abcdef now")
	if out := w.OK("show", "one", "--json"); strings.Contains(out, "sk-ant") {
		t.Errorf("the key is there: %s", out)
	}
}
