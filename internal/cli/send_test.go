package cli

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// A message reaches a session that nobody runs, and one that somebody does; under one key it is taken once.
func TestSend(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	if o := w.run("send", "s1", "--key", "k", "first", "words"); o.code != 0 || o.stdout != "" || !strings.Contains(o.stderr, "perdure -p --resume s1 goes on") {
		t.Errorf("send: %+v", o)
	}
	w.ok("send", "s1", "--key", "k", "first words")
	w.fails(1, "key", "send", "s1", "--key", "k", "other words")
	w.app.Stdin = strings.NewReader(" from stdin\n")
	w.ok("send", "s1", "-")
	w.app.Stdin = strings.NewReader("from a pipe\n")
	w.ok("send", "s1")
	w.fails(2, "empty", "send", "s1", " ")
	w.fails(2, "empty", "send", "s1")
	w.app.Terminal = true
	w.fails(2, "a session and a text", "send", "s1")
	w.fails(4, "no session", "send", "nope", "x")
	r := w.prompt("s1", `{"turns":[{"match":"first words","steps":[{"text":"one"}]},{"match":"from stdin","steps":[{"text":"two"}]},{"match":"from a pipe","steps":[{"text":"three"}]}]}`, "", "")
	if r.StopReason != session.TurnEndTurn || r.Turn != 3 {
		t.Errorf("ran to turn %d: %s", r.Turn, r.StopReason)
	}
	log := w.ok("show", "s1", "--messages")
	for _, words := range []string{"first words", "from stdin", "from a pipe"} {
		if strings.Count(log, words) != 1 {
			t.Errorf("%q is there %d times:\n%s", words, strings.Count(log, words), log)
		}
	}
}
