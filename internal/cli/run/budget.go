package run

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// noBudget takes a budget off.
const noBudget = "none"

// maxBudget bounds a budget, in US dollars: its nano-USD are counted exactly.
const maxBudget = 1e9

// budget is the value of --max-budget-usd.
type budget struct {
	usd float64
	off bool
}

func (b *budget) String() string {
	switch {
	case b.off:
		return noBudget
	case b.usd == 0:
		return ""
	}
	return strconv.FormatFloat(b.usd, 'f', -1, 64)
}

func (*budget) Type() string { return "USD" }

func (b *budget) Set(text string) error {
	if text == noBudget || text == "0" {
		*b = budget{off: true}
		return nil
	}
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(usd) || usd <= 0 || usd > maxBudget {
		return errors.New("it must be an amount of US dollars above 0, as in 5 or 2.50, or 0 or none to take the budget off")
	}
	*b = budget{usd: usd}
	return nil
}

// nano is the budget that a run sets, in nano-USD: 0 takes it off.
func (b *budget) nano() *int64 {
	n := int64(math.Round(b.usd * 1e9))
	return &n
}

// checkBudget refuses a money budget that cannot be kept, before a first model call.
func checkBudget(agent session.Agent, nano int64) error {
	if nano <= 0 || agent.Price != nil || agent.Provider == "none" {
		return nil
	}
	model := agent.Provider + "/" + agent.Model
	return &app.ExitError{
		Code: app.ExitUsage,
		Text: fmt.Sprintf("the price of %s is unknown, so a budget of %s US dollars cannot be kept", model, strconv.FormatFloat(float64(nano)/1e9, 'f', -1, 64)),
		Hint: fmt.Sprintf("put its price per million tokens into the configuration: [prices.%q] input = …, output = …; or go on without a budget: --max-budget-usd none", model),
	}
}

// budgetOf looks whether the budget of a resumed session can be kept, and gives it the price that the configuration has
// for its model now.
func budgetOf(a *app.App, h *homes.Home, set settings.Loaded, st *session.State, opt *homes.RunOptions) error {
	agent := st.Agent
	if opt.Agent != nil {
		agent = *opt.Agent
	} else {
		price, ours := set.PriceList()[agent.Provider+"/"+agent.Model]
		switch known := h.Price(agent.Provider, agent.Model); {
		case ours && (agent.Price == nil || *agent.Price != price):
			agent.Price = &price
			opt.Agent = &agent
		case agent.Price == nil && known != nil:
			agent.Price = known
			opt.Agent = &agent
		}
	}
	warnOfPlainHTTP(a, agent.Provider)
	nano := st.Config.BudgetNano
	if opt.BudgetNano != nil {
		nano = *opt.BudgetNano
	}
	return checkBudget(agent, nano)
}
