// Package sources is what the pages of the screen show, out of a home.
package sources

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/panels"
)

// planOf says how the plan of a session stands.
type planOf struct {
	home *homes.Home
	id   string
}

// Plan gives the source of the page of the plan.
func Plan(h *homes.Home, id string) panels.PlanSource { return planOf{h, id} }

// Plan reads the session's state. Errors: as of [homes.Home.State].
func (s planOf) Plan(ctx context.Context) (panels.Plan, error) {
	st, err := s.home.State(ctx, s.id)
	if err != nil {
		return panels.Plan{}, err
	}
	var plan panels.Plan
	for _, step := range st.Plan {
		plan.Steps = append(plan.Steps, panels.Step{
			Text: step.Content, Active: step.ActiveForm, Status: string(step.Status), Blocker: step.Blocker, Reason: step.Reason, Output: step.Output,
		})
	}
	for _, f := range st.Facts {
		plan.Facts = append(plan.Facts, panels.Fact{Kind: f.Kind, Text: f.Text, Reason: f.Reason, From: f.Provenance})
	}
	return plan, nil
}
