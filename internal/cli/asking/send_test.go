package asking_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/session"
)

// A message reaches a session that nobody runs, and one that somebody does; under one key it is taken once.
func TestSend(t *testing.T) {
	w := clitest.New(t)
	w.Create("s1")
	if o := w.Run("send", "s1", "--key", "k", "first", "words"); o.Code != 0 || o.Stdout != "" || !strings.Contains(o.Stderr, "perdure -p --resume s1 goes on") {
		t.Errorf("send: %+v", o)
	}
	w.OK("send", "s1", "--key", "k", "first words")
	w.Fails(1, "key", "send", "s1", "--key", "k", "other words")
	w.App.Stdin = strings.NewReader(" from stdin\n")
	w.OK("send", "s1", "-")
	w.App.Stdin = strings.NewReader("from a pipe\n")
	w.OK("send", "s1")
	w.Fails(2, "empty", "send", "s1", " ")
	w.Fails(2, "empty", "send", "s1")
	w.App.Terminal = true
	w.Fails(2, "a session and a text", "send", "s1")
	w.Fails(4, "no session", "send", "nope", "x")
	r := w.Prompt("s1", `{"turns":[{"match":"first words","steps":[{"text":"one"}]},{"match":"from stdin","steps":[{"text":"two"}]},{"match":"from a pipe","steps":[{"text":"three"}]}]}`, "", "")
	if r.StopReason != session.TurnEndTurn || r.Turn != 3 {
		t.Errorf("ran to turn %d: %s", r.Turn, r.StopReason)
	}
	log := w.OK("show", "s1", "--messages")
	for _, words := range []string{"first words", "from stdin", "from a pipe"} {
		if strings.Count(log, words) != 1 {
			t.Errorf("%q is there %d times:\n%s", words, strings.Count(log, words), log)
		}
	}
}
