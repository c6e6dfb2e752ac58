package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scripted writes a script for the scripted model and gives its MODEL argument.
func (w *world) scripted(script string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, "model.json")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return "scripted/" + path
}

const saysYes = `{"turns":[{"match":"","steps":[{"text":"Yes."},{"text":"Yes again."}]}]}`

// Goal: a session gets its name when it is opened, and else can be told by the first words of its prompt. Those are no
// name: a prompt that is the name of another session does not make that name ambiguous.
func TestNameAtOpening(t *testing.T) {
	w := newWorld(t)
	m := w.scripted(saysYes)
	w.ok("-p", "--session-id", "one", "--name", "parser work", "--model", m, "make the parser faster")
	if out := w.ok("show", "parser work", "--json"); !strings.Contains(out, `"title":"parser work"`) || !strings.Contains(out, `"prompt":"make the parser faster"`) {
		t.Errorf("neither name nor first words: %s", out)
	}
	w.ok("-p", "--session-id", "two", "--model", m, "parser work")
	if out := w.ok("show", "parser work", "--json"); !strings.Contains(out, `"id":"one"`) {
		t.Errorf("the name leads elsewhere now: %s", out)
	}
	long := "first line\n" + strings.Repeat("word ", 40)
	w.ok("-p", "--session-id", "three", "--model", m, long)
	if out := w.ok("show", "three", "--json"); !strings.Contains(out, `"prompt":"first line word word word word word word word word word…"`) {
		t.Errorf("the first words are not cut at a word: %s", out)
	}
	w.ok("-p", "-r", "one", "--fork-session", "--session-id", "four", "--name", "the fork", "go on")
	if out := w.ok("show", "the fork", "--json"); !strings.Contains(out, `"id":"four"`) {
		t.Errorf("the fork has no name: %s", out)
	}
	w.fails(exitUsage, "perdure rename ID NAME", "-p", "-r", "one", "--name", "other", "go on")
	w.fails(exitUsage, "a name cannot be empty", "-p", "--name", " ", "hello")
}

// Goal: a secret in the first prompt is not in the words that lists show.
func TestFirstWordsHideSecrets(t *testing.T) {
	w := newWorld(t)
	w.app.Environ = append(w.app.Environ, "ANTHROPIC_API_KEY=sk-ant-0123456789abcdef")
	w.ok("-p", "--session-id", "one", "--model", w.scripted(saysYes), strings.Repeat("a word ", 6)+"sk-ant-0123456789abcdef now")
	if out := w.ok("show", "one", "--json"); strings.Contains(out, "sk-ant") {
		t.Errorf("the key is there: %s", out)
	}
}
