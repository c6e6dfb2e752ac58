package run

import (
	"math"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// limits sets what a run may take: what a flag says, else what the session was given before, else the configuration.
// What a flag says is kept by the session from then on. St is the state of a session that exists, or nil.
func (f *Flags) limits(opt *homes.RunOptions, set settings.Loaded, st *session.State) {
	had := session.Config{}
	if st != nil {
		had = st.Config
	}
	switch {
	case f.Changed("max-turns"):
		opt.MaxSteps = &f.maxSteps
	case had.MaxSteps == 0 && set.MaxSteps > 0:
		opt.MaxSteps = &set.MaxSteps
	}
	switch {
	case f.Changed("max-budget-usd"):
		opt.BudgetNano = f.maxBudget.nano()
	case had.BudgetNano == 0 && set.MaxBudgetUSD > 0:
		opt.BudgetNano = (&budget{usd: set.MaxBudgetUSD}).nano()
	}
	switch {
	case f.Changed("compact-at"):
		opt.CompactAt = permille(f.compactAt)
	case had.CompactAt == 0 && set.Context.CompactAt > 0:
		opt.CompactAt = permille(set.Context.CompactAt)
	}
	switch off := set.Context.Compact != nil && !*set.Context.Compact; {
	case f.Changed("no-compact"):
		opt.NoCompact = &f.noCompact
	case st == nil && off:
		opt.NoCompact = &off
	}
	if f.Changed("on-lost") {
		opt.OnLost = f.onLost
	}
	switch {
	case f.Changed("retry-for"):
		opt.RetryFor = &f.retryFor
	case had.RetryForMS == nil:
		opt.RetryFor = set.Retry
	}
}

// permille is a part of the window in thousandths.
func permille(part float64) *int {
	n := int(math.Round(part * 1000))
	return &n
}
