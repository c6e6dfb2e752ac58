package homes_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// A prompt whose call the program is asked about comes back with what the turn came to, not while the program thinks.
func TestPromptWaitsForTheProgramsAnswer(t *testing.T) {
	asked, think := make(chan struct{}, 2), make(chan struct{})
	_, s, _ := held(t, homes.HoldOptions{Approve: func(context.Context, view.Waiting) (homes.Approval, error) {
		asked <- struct{}{}
		<-think
		return homes.Approval{Message: "not that one"}, nil
	}})
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		// Another rest while the program thinks: nothing of it is an end of the turn.
		if _, err := s.State(t.Context()); err != nil {
			t.Error(err)
		}
		close(think)
	}()
	r := prompt(t, s, "write "+filepath.Join(st.Cwd, "x.txt"))
	if r.StopReason != session.TurnEndTurn || !strings.Contains(r.Result, "not that one") {
		t.Errorf("%+v", r)
	}
}

// What the program leaves to others is a rest.
func TestPromptRestsWhenTheProgramLeavesIt(t *testing.T) {
	_, s, _ := held(t, homes.HoldOptions{Approve: func(context.Context, view.Waiting) (homes.Approval, error) {
		return homes.Approval{}, errors.New("somebody else may")
	}})
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := prompt(t, s, "write "+filepath.Join(st.Cwd, "x.txt"))
	if r.StopReason != session.TurnWaitingApproval || len(s.Waiting()) != 1 {
		t.Errorf("%+v, %+v", r, s.Waiting())
	}
	if err := s.Approve(t.Context(), s.Waiting()[0], homes.Approval{Message: "no"}); err != nil {
		t.Fatal(err)
	}
	// A question is not the program's affair, though a call is.
	if r := prompt(t, s, "ask"); r.StopReason != session.TurnWaitingAnswer {
		t.Errorf("%+v", r)
	}
}
