package sources

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/model"
)

// costOf says what a session used.
type costOf struct {
	home *homes.Home
	id   string
}

// Cost gives the source of the page of the cost.
func Cost(h *homes.Home, id string) panels.CostSource { return costOf{h, id} }

const nano = 1e9 // of a dollar

// Cost reads the session's state. Errors: as of [homes.Home.State].
func (s costOf) Cost(ctx context.Context) (panels.Cost, error) {
	st, err := s.home.State(ctx, s.id)
	if err != nil {
		return panels.Cost{}, err
	}
	c := panels.Cost{Session: use(st.Total(), st.Spent, st.Unpriced), Budget: float64(st.Config.BudgetNano) / nano, Spent: float64(st.Spent) / nano}
	for _, m := range st.Usage {
		u := use(m.Usage, m.Cost, m.Unpriced)
		u.Calls, u.LostCalls = m.Calls, m.Lost
		c.Session.Calls += m.Calls
		c.Session.LostCalls += m.Lost
		c.Models = append(c.Models, panels.ModelUse{Model: m.Model, Use: u})
	}
	switch {
	case st.Turn != nil:
		u := use(st.Turn.Usage, st.Turn.Cost, st.Turn.Unpriced)
		c.Turn, c.TurnOpen = &u, true
	case st.LastTurn != nil:
		u := use(st.LastTurn.Usage, st.LastTurn.Cost, st.LastTurn.Unpriced)
		c.Turn = &u
	}
	return c, nil
}

// use is what was used. What it cost is unknown as soon as the price of one call is.
func use(u model.Usage, cost, unpriced int64) panels.Use {
	out := panels.Use{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Lost: u.LostInput}
	if unpriced == 0 {
		usd := float64(cost) / nano
		out.USD = &usd
	}
	return out
}
