package engine

import (
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// foreignDo is an action that nothing performs.
type foreignDo struct{ session.Do }

// The linter sees to it that every action is performed. What it did not see is an error, not a loop that waits for ever.
func TestAnActionThatNothingPerforms(t *testing.T) {
	s := &Session{state: session.New("s")}
	if done, err := s.perform(t.Context(), session.Action{ID: "x", Do: foreignDo{}}); err == nil || done {
		t.Errorf("done %t, error %v", done, err)
	}
}
