package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Ids and arguments that are odd get what they deserve, and nothing is made of what is refused.
func TestOddIDs(t *testing.T) {
	w := newWorld(t)
	m := w.model()
	for _, id := range []string{".", "..", ".x", "-x", "_x", "a/b", "../x", "a b", "ä", "", strings.Repeat("a", 129), "a\nb", "a:b", "a@1", "~", "x\u202e"} {
		o := w.perdure(append(append([]string{"-p", "--session-id=" + id}, m...), "hello")...)
		if o.code != 2 {
			t.Errorf("%q: %s", id, o)
		}
	}
	if o := w.want(0, "list", "--json"); o.out != "" {
		t.Errorf("something was made: %s", o)
	}
	for _, id := range []string{"a", "A", strings.Repeat("b", 128), "a..", "0", "t1.s1.b1", "list", "CON", "a.b_c-d"} {
		w.want(0, append(append([]string{"-p", "--session-id", id}, m...), "hello")...)
		w.verify(id)
	}
	if o := w.want(2, append(append([]string{"-p", "--session-id", "a"}, m...), "hello")...); !strings.Contains(o.stderr, "--resume") {
		t.Errorf("no hint at --resume: %s", o)
	}
}

// lastPrompt is the newest text of the user.
func (w *world) lastPrompt(id string) string {
	last := ""
	for _, m := range w.show(id).Messages {
		for _, c := range m.Content {
			if m.Role == "user" && c["type"] == "text" {
				last = texts(c)
			}
		}
	}
	return last
}

// A prompt may be any word, wherever the flags stand.
func TestArguments(t *testing.T) {
	w := newWorld(t)
	m := w.model()
	for i, c := range []struct {
		args   []string
		prompt string
	}{
		{[]string{"-p", "list"}, "list"},
		{[]string{"-p", "help"}, "help"},
		{[]string{"-p", "completion"}, "completion"},
		{[]string{"-p", "two", "words"}, "two words"},
		{[]string{"-p", "--", "--not-a-flag"}, "--not-a-flag"},
		{[]string{"-p", "--", "-r"}, "-r"},
		{[]string{"--print", "flags after"}, "flags after"},
		{[]string{"first", "-p"}, "first"},
		{[]string{"-p", "multi\nline\ttext"}, "multi\nline\ttext"},
		{[]string{"-p", "$(touch x) `y` %s %d"}, "$(touch x) `y` %s %d"},
	} {
		id := "s" + string(rune('a'+i))
		// Flags before, since what follows -- is the prompt's.
		args := append(append(append([]string{}, m...), "--session-id", id), c.args...)
		if o := w.perdure(args...); o.code != 0 {
			t.Errorf("%q: %s", c.args, o)
			continue
		}
		if got := w.lastPrompt(id); got != c.prompt {
			t.Errorf("%q: the prompt is %q", c.args, got)
		}
	}
	w.want(0, append([]string{"-p", "behind", "--session-id", "behind"}, m...)...)
	w.want(0, "rename", "behind", "my name")
	w.want(0, "-p", "-r", "my name", "by name")
	w.want(0, "-p", "again", "-r", "behind")
	if got := w.lastPrompt("behind"); got != "again" {
		t.Errorf("-r behind the prompt: %q", got)
	}
	w.want(0, "-r", "behind", "-p")
	w.want(0, "-p", "--resume=behind")
	w.want(0, "-p", "-r", "behi") // a unique beginning
	for _, args := range [][]string{
		{"-p", "-r"},
		{"-r", "-p"},
		{"-p", "prompt", "-r"},
		{"-p", "--resume"},
		{"-p", "-r", "behind", "-c"},
		{"-p", "--fork-session", "x"},
		{"-p", "--output-format", "xml", "x"},
		{"-p", "--max-turns", "0", "x"},
		{"-p", "--max-turns", "-1", "x"},
		{"-p", "--max-budget-usd", "NaN", "x"},
		{"-p", "--permission-mode", "yolo", "x"},
		{"-p", "--nonsense", "x"},
		{"nonsense"},
		{"show"},
		{"show", "a", "b"},
		{"log", "behind", "--from", "0"},
		{"-p", "--allowed-tools", "Bash(", "x"},
		{"-p", "--model", "nothing", "x"},
		{"-p", "--model", "x/y", "x"},
		{"-p", "--model=", "--resume=", "x"},
	} {
		if o := w.perdure(args...); o.code != 2 || o.stderr == "" {
			t.Errorf("no usage error for %q: %s", args, o)
		}
	}
	for _, args := range [][]string{{"show", "nothing"}, {"-p", "-r", "nothing"}, {"-p", "-r", "beh"}, {"log", "x/y"}, {"show", "-", "--json"}, {"answer", "behind", "x"}, {"task", "kill", "behind", "bash_1"}} {
		if o := w.perdure(args...); o.code != 4 || o.stderr == "" {
			t.Errorf("%q is not missing: %s", args, o)
		}
	}
}

// An empty --resume= is no request for the newest session, nor for a new one.
func TestEmptyResume(t *testing.T) {
	w := newWorld(t)
	o := w.perdure(append([]string{"-p", "--resume="}, append(w.model(), "hello")...)...)
	if o.code != 2 {
		t.Errorf("--resume= opened something: %s", o)
	}
	if o := w.perdure("show", ""); o.code != 2 {
		t.Errorf("show of nothing: %s", o)
	}
}

// An id comes before a name, a name before the beginning of an id; twins are told apart or refused.
func TestNamesLikeIDs(t *testing.T) {
	w := newWorld(t)
	m := w.model()
	for _, id := range []string{"alpha-one", "alpha-two", "beta-one"} {
		w.want(0, run1(id, m)...)
	}
	w.want(0, "rename", "beta-one", "alpha-one") // another's id
	if o := w.want(0, "show", "alpha-one"); !strings.Contains(o.out, "session      alpha-one") {
		t.Errorf("the name hid the id: %s", o)
	}
	w.want(0, "rename", "beta-one", "alpha-t") // the beginning of another's id
	if o := w.want(0, "show", "alpha-t"); !strings.Contains(o.out, "session      beta-one") {
		t.Errorf("the beginning of an id hid the name: %s", o)
	}
	if o := w.want(2, "show", "alph"); !strings.Contains(o.stderr, "alpha-one") || !strings.Contains(o.stderr, "alpha-two") {
		t.Errorf("an ambiguous beginning: %s", o)
	}
	w.want(0, "rename", "alpha-two", "alpha-t")
	w.want(2, "show", "alpha-t")
	if b, err := os.ReadFile(filepath.Join(w.work, "x")); err == nil {
		t.Errorf("x: %s", b)
	}
}
