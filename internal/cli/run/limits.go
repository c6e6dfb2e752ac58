package run

import (
	"math"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// limits sets what a run may take: what a flag says, else what the session was given before, else the configuration. What
// a bundle claims that it was given elsewhere only narrows what the configuration says. What a flag says is kept by the
// session from then on. St is the state of a session that exists, or nil.
func (f *Flags) limits(opt *homes.RunOptions, set settings.Loaded, st *session.State) {
	had, claimed := session.Config{}, session.Claimed{}
	if st != nil {
		had, claimed = st.Config, st.Claimed
	}
	switch {
	case f.Changed("max-turns"):
		opt.MaxSteps = &f.maxSteps
	case set.MaxSteps > 0 && (had.MaxSteps == 0 || claimed.Steps && set.MaxSteps < had.MaxSteps):
		opt.MaxSteps = &set.MaxSteps
	}
	switch {
	case f.Changed("max-budget-usd"):
		opt.BudgetNano = f.maxBudget.nano()
	case set.MaxBudgetUSD > 0:
		if nano := (&budget{usd: set.MaxBudgetUSD}).nano(); had.BudgetNano == 0 || claimed.Budget && *nano < had.BudgetNano {
			opt.BudgetNano = nano
		}
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
	case had.RetryForMS == nil, claimed.Retry && set.Retry != nil && set.Retry.Milliseconds() < *had.RetryForMS:
		opt.RetryFor = set.Retry
	}
}

// permille is a part of the window in thousandths.
func permille(part float64) *int {
	n := int(math.Round(part * 1000))
	return &n
}
