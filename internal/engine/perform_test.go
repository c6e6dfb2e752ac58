package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// foreignDo is an action that nothing performs.
type foreignDo struct{ session.Do }

// The linter sees to it that every action is performed. What it did not see is an error, not a loop that waits for ever.
func TestAnActionThatNothingPerforms(t *testing.T) {
	s := newSession(nil, store.Lease{}, session.New("s"))
	if done, err := s.perform(t.Context(), session.Action{ID: "x", Do: foreignDo{}}); err == nil || done {
		t.Errorf("done %t, error %v", done, err)
	}
}

// The shape holds: a method belongs to the part whose fields it needs, and only the loop and what others call is of the
// whole session.
func TestMethodsBelongToParts(t *testing.T) {
	const most = 50
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		own += strings.Count(string(text), "\nfunc (s *Session) ")
	}
	if own == 0 || own > most {
		t.Errorf("%d methods of Session, at the most %d: give a new one to the part in parts.go whose fields it needs", own, most)
	}
}
