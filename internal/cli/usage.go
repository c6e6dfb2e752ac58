package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

func (a *App) usageCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "usage [ID]", Short: "Tokens and cost by model, of a session or of all", Args: rangeArgs(0, 1, "at most one session"),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error { return a.usageOfAll(ctx, h, asJSON) })
			}
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				v, err := h.View(ctx, id, perdure.ViewOptions{})
				if err != nil {
					return err
				}
				return a.printUsage(usageReport{ID: id, Sessions: 1, Usage: v.Usage, CostUSD: v.CostUSD}, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// usageReport is what usage prints.
type usageReport struct {
	ID       string            `json:"id,omitempty"` // empty: all sessions
	Sessions int               `json:"sessions"`
	Usage    perdure.UsageView `json:"usage"`
	CostUSD  *float64          `json:"cost_usd"` // null: a price is unknown
}

// usageOfAll sums up sessions; a fork's log counts from its fork, so nothing is counted twice. A session that cannot
// be read is named, and makes the command fail after the others were counted.
func (a *App) usageOfAll(ctx context.Context, h *perdure.Home, asJSON bool) error {
	byModel := map[string]*perdure.ModelView{}
	r := usageReport{Usage: perdure.UsageView{Models: []perdure.ModelView{}}}
	failed := 0
	err := each(ctx, h, store.Query{}, func(s store.Info) error {
		v, err := h.View(ctx, s.ID, perdure.ViewOptions{})
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed++
			a.note("left out: %v", err)
			return nil
		}
		r.Sessions++
		for _, m := range v.Usage.Models {
			addModel(byModel, m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	total := 0.0
	r.CostUSD = &total
	for _, m := range byModel {
		r.Usage.Models = append(r.Usage.Models, *m)
		r.Usage.Add(m.Usage)
		r.CostUSD = addCost(r.CostUSD, m.CostUSD)
	}
	slices.SortFunc(r.Usage.Models, func(x, y perdure.ModelView) int { return cmp.Compare(x.Model, y.Model) })
	if err := a.printUsage(r, asJSON); err != nil || failed == 0 {
		return err
	}
	return exit(exitFailed)
}

func addModel(sums map[string]*perdure.ModelView, m perdure.ModelView) {
	sum := sums[m.Model]
	if sum == nil {
		sums[m.Model] = &m
		return
	}
	sum.Add(m.Usage)
	sum.Calls += m.Calls
	sum.Lost += m.Lost
	sum.CostUSD = addCost(sum.CostUSD, m.CostUSD)
}

// addCost adds costs; what is unknown stays so.
func addCost(x, y *float64) *float64 {
	if x == nil || y == nil {
		return nil
	}
	sum := *x + *y
	return &sum
}

func (a *App) printUsage(r usageReport, asJSON bool) error {
	if asJSON {
		return a.json(r)
	}
	rows := [][]string{{"MODEL", "CALLS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "LOST INPUT", "COST"}}
	line := func(name, calls string, u session.Usage, cost *float64) []string {
		n := func(v int64) string { return strconv.FormatInt(v, 10) }
		return []string{name, calls, n(u.Input), n(u.Output), n(u.CacheRead), n(u.CacheWrite), n(u.LostInput), money(cost)}
	}
	calls := int64(0)
	for _, m := range r.Usage.Models {
		calls += m.Calls
		rows = append(rows, line(m.Model, strconv.FormatInt(m.Calls, 10), m.Usage, m.CostUSD))
	}
	rows = append(rows, line("total", strconv.FormatInt(calls, 10), r.Usage.Usage, r.CostUSD))
	return a.table(rows)
}
