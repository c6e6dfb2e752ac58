package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/session"
)

// maxEditFacts bounds what a person notes with one change of the plan.
const maxEditFacts = 200

// admitPlan takes a person's change of the plan if the plan is still the one that was looked at, and words it for the
// model. What it holds of secrets is replaced before that.
func (s *admission) admitPlan(b *session.PlanEdited) error {
	if b.Over != session.PlanDigest(s.state.Plan) {
		return errors.New(session.PlanChanged)
	}
	s.eng.hide(b)
	if err := session.CheckPlan(b.Steps); err != nil {
		return err
	}
	if len(b.Facts) > maxEditFacts {
		return fmt.Errorf("%d notes at once, at most %d are allowed", len(b.Facts), maxEditFacts)
	}
	for i := range b.Facts {
		if err := s.admitFact(&b.Facts[i], i); err != nil {
			return err
		}
	}
	if len(b.Facts) == 0 && slices.Equal(b.Steps, s.state.Plan) {
		return fmt.Errorf("the plan is so already")
	}
	b.Text = session.PlanWords(s.state.Plan, b)
	return nil
}

// admitFact completes the i-th note of a change.
func (s *admission) admitFact(f *session.Fact, i int) error {
	f.Provenance, f.Seq, f.Time = "user", 0, 0
	switch f.Kind {
	case "fact", "finding", "decision", "failed_approach", "constraint":
	default:
		return fmt.Errorf("there is no kind of note %q", f.Kind)
	}
	switch n := max(len(f.Text), len(f.Reason)); {
	case f.Text == "":
		return fmt.Errorf("a note says nothing")
	case n > session.MaxPlanText:
		return fmt.Errorf("a note has %d bytes, at most %d are allowed", n, session.MaxPlanText)
	case !s.state.FactsFit(i + 1):
		return fmt.Errorf("the session holds as many facts as it can: 4,096")
	}
	return nil
}
