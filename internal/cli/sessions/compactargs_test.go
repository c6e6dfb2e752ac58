package sessions_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: compact without a session is a mistake of usage, as everywhere else, and says what is wanted.
func TestCompactWantsASession(t *testing.T) {
	w := clitest.New(t)
	if o := w.Fails(app.ExitUsage, "want a session", "compact"); !strings.Contains(o.Stderr, "perdure compact ID") {
		t.Errorf("%+v", o)
	}
}

// Goal: a conversation of some words is not made longer by a summary: the model is not asked, and one is told why. One
// that is worth it is compacted.
func TestCompactOfATinyConversationAsksNoModel(t *testing.T) {
	w := clitest.New(t)
	script := w.Scripted(`{"turns":[{"match":"hello","steps":[{"text":"Good day."}]},{"match":"long","steps":[{"text":"` + strings.Repeat("many words ", 1000) + `"}]}],"summary":{"text":"Short."}}`)
	w.Run("-p", "--session-id", "s", "--model", script, "hello")
	o := w.Run("compact", "s")
	if o.Code != 0 || !strings.Contains(o.Stderr, "nothing worth compacting") || strings.Contains(w.OK("log", "s"), "compact") {
		t.Errorf("%+v\n%s", o, w.OK("log", "s"))
	}
	w.Run("-p", "-r", "s", "--model", script, "long")
	if out := w.OK("compact", "s"); !strings.Contains(out, "compaction 1, summary by the model") {
		t.Error(out)
	}
}
