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
