package sessions

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"

	"github.com/perdure/perdure/internal/ui/theme"
)

// UsageBy are the ways in which usage can be told apart.
var UsageBy = []string{"model", "session", "directory", "day"}

// UsageCommand is perdure usage.
func UsageCommand(a *app.App) *cobra.Command {
	var asJSON bool
	by := UsageBy[0]
	c := &cobra.Command{
		Use: "usage [ID]", Short: "Tokens and cost by model, session, directory or day", Args: app.RangeArgs(0, 1, "at most one session"),
		Long: `Tokens and cost of one session, or of all. Calls of a model without a known price are counted, and their cost is
left out of the sum, which says so. --by day goes by the time of each reply in this terminal's zone.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(UsageBy, by) {
				return app.UsageError("--by %q: want model, session, directory or day", by)
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				r := &usageReport{By: by, Usage: view.Usage{Models: []view.ModelUse{}}, parts: map[string]*usagePart{}}
				if len(args) == 1 {
					id, err := a.Resolve(ctx, h, args[0])
					if err != nil {
						return err
					}
					r.ID = id
				}
				return usage(ctx, a, h, r, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().StringVar(&by, "by", by, "one row for each `model`, session, directory or day")
	return c
}

// usageReport is what usage prints.
type usageReport struct {
	ID       string      `json:"id,omitempty"` // empty: all sessions
	By       string      `json:"by"`
	Sessions int         `json:"sessions"`
	Usage    view.Usage  `json:"usage"`
	CostUSD  *float64    `json:"cost_usd"`       // null: a price is unknown
	Known    float64     `json:"known_cost_usd"` // of the calls whose price is known
	Parts    []usagePart `json:"parts"`

	parts map[string]*usagePart
}

// usagePart is the usage of one model, session, directory or day.
type usagePart struct {
	Name string `json:"name"`
	model.Usage
	Calls    int64   `json:"calls"`
	Unpriced int64   `json:"unpriced_calls"`
	Known    float64 `json:"known_cost_usd"`
}

// usage sums up sessions; a fork's log counts from its fork, so nothing is counted twice. A session that cannot be read
// is named, and makes the command fail after the others were counted.
func usage(ctx context.Context, a *app.App, h *homes.Home, r *usageReport, asJSON bool) error {
	failed := 0
	byModel := map[string]*view.ModelUse{}
	one := func(id string) error {
		st, err := h.State(ctx, id)
		if err == nil {
			r.Sessions++
			for _, m := range homes.ModelViews(st) {
				addModel(byModel, m)
			}
			err = r.count(ctx, h, a, st)
		}
		switch {
		case r.ID != "" || ctx.Err() != nil:
			return err
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			failed++
			a.Note("left out: %v", err)
		}
		return nil
	}
	var err error
	if r.ID != "" {
		err = one(r.ID)
	} else {
		err = h.Each(ctx, store.Query{}, func(s view.Listing) error { return one(s.ID) })
	}
	if err != nil {
		return err
	}
	r.sum(byModel)
	if err := printUsage(a, r, asJSON); err != nil || failed == 0 {
		return err
	}
	return app.Exit(app.ExitFailed)
}

// count adds a session's usage to its part.
func (r *usageReport) count(ctx context.Context, h *homes.Home, a *app.App, st *session.State) error {
	switch r.By {
	case "day":
		return r.countDays(ctx, h, a, st.ID)
	case "session":
		r.add(st.ID, st.Usage...)
	case "directory":
		r.add(a.Tilde(st.Config.Root), st.Usage...)
	default:
		for _, u := range st.Usage {
			r.add(u.Model, u)
		}
	}
	return nil
}

func (r *usageReport) countDays(ctx context.Context, h *homes.Home, a *app.App, id string) error {
	for ev, err := range h.Events(ctx, id, 1, 0) {
		if err != nil {
			return err
		}
		if ev.Kind != session.KindModelResponded {
			continue
		}
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		if b, ok := body.(*session.ModelResponded); ok {
			u := session.ModelUse{Model: b.Model, Usage: b.Usage, Calls: 1}
			if b.Cost == nil {
				u.Unpriced = 1
			} else {
				u.Cost = *b.Cost
			}
			r.add(a.Clock(ev.Time).Format("2006-01-02"), u)
		}
	}
	return nil
}

func (r *usageReport) add(name string, uses ...session.ModelUse) {
	p := r.parts[name]
	if p == nil {
		p = &usagePart{Name: name}
		r.parts[name] = p
	}
	for _, u := range uses {
		meter.Add(&p.Usage, u.Usage)
		p.Calls += u.Calls
		p.Unpriced += u.Unpriced
		p.Known += float64(u.Cost) / 1e9
	}
}

// sum makes the totals.
func (r *usageReport) sum(byModel map[string]*view.ModelUse) {
	total := 0.0
	r.CostUSD = &total
	for _, m := range byModel {
		r.Usage.Models = append(r.Usage.Models, *m)
		meter.Add(&r.Usage.Usage, m.Usage)
		r.CostUSD = addCost(r.CostUSD, m.CostUSD)
	}
	slices.SortFunc(r.Usage.Models, func(x, y view.ModelUse) int { return cmp.Compare(x.Model, y.Model) })
	r.Parts = make([]usagePart, 0, len(r.parts))
	for _, p := range r.parts {
		if p.Calls > 0 || p.LostInput > 0 {
			r.Parts = append(r.Parts, *p)
			r.Known += p.Known
		}
	}
	slices.SortFunc(r.Parts, func(x, y usagePart) int { return cmp.Compare(x.Name, y.Name) })
}

func addModel(sums map[string]*view.ModelUse, m view.ModelUse) {
	sum := sums[m.Model]
	if sum == nil {
		sums[m.Model] = &m
		return
	}
	meter.Add(&sum.Usage, m.Usage)
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

func printUsage(a *app.App, r *usageReport, asJSON bool) error {
	if asJSON {
		return a.JSON(r)
	}
	heads := map[string]string{"model": "MODEL", "session": "SESSION", "directory": "DIRECTORY", "day": "DAY"}
	rows := [][]string{{heads[r.By], "CALLS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "LOST INPUT", "COST"}}
	total := usagePart{Name: "total", Usage: r.Usage.Usage, Known: r.Known}
	for _, p := range r.Parts {
		total.Calls += p.Calls
		total.Unpriced += p.Unpriced
		rows = append(rows, usageRow(p))
	}
	columns, _ := a.Window()
	rows = display.Narrow(shortNames(a, append(rows, usageRow(total)), r.By, columns), columns, "LOST INPUT", "CACHE WRITE", "CACHE READ", "CALLS")
	if err := a.Table(rows); err != nil {
		return err
	}
	if total.Unpriced > 0 {
		a.Note("%s of unknown price: their cost is not in the sum", display.Count(total.Unpriced, "call"))
	}
	return nil
}

// shortNames cuts what the rows of a table of usage are named after, on a terminal: ids to their ends, others to two
// fifths of its columns.
func shortNames(a *app.App, rows [][]string, by string, columns int) [][]string {
	short := func(name string) string { return theme.Cut(name, max(display.MinCell, columns*2/5)) }
	if by == "session" {
		var ids []string
		for _, row := range rows[1 : len(rows)-1] {
			ids = append(ids, row[0])
		}
		short = a.ShortIDs(ids)
	}
	for _, row := range rows {
		if columns > 0 {
			row[0] = short(row[0])
		}
	}
	return rows
}

func usageRow(p usagePart) []string {
	cost := display.Money(&p.Known)
	switch {
	case p.Unpriced > 0 && p.Known > 0:
		cost += "+"
	case p.Unpriced > 0:
		cost = "?"
	}
	return []string{
		p.Name, display.Grouped(p.Calls), display.Grouped(p.Input), display.Grouped(p.Output), display.Grouped(p.CacheRead), display.Grouped(p.CacheWrite), display.Grouped(p.LostInput), cost,
	}
}
