package panels

import (
	"context"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Use is what was used: tokens, and money if all prices are known.
type Use struct {
	Input, Output, CacheRead, CacheWrite int64
	Lost                                 int64    // tokens of calls that broke off: not in the others
	Calls, LostCalls                     int64    // 0: unknown
	USD                                  *float64 // nil: a price is unknown
}

// ModelUse is what one model used.
type ModelUse struct {
	Model string
	Use
}

// Cost is what a session used.
type Cost struct {
	Session  Use
	Turn     *Use // the open turn, or the last one; nil: there was none
	TurnOpen bool
	Models   []ModelUse
	Budget   float64 // USD that the session may spend; 0: no limit
	Spent    float64 // USD of it
}

// CostSource says what was used. It may block, and is called from other goroutines.
type CostSource interface {
	Cost(ctx context.Context) (Cost, error)
}

// NewCost is the page of what a session used.
func NewCost(cfg Config, src CostSource) *Page {
	p := &Page{cfg: cfg, title: "Cost"}
	p.load = func(ctx context.Context) (filled, error) {
		c, err := src.Cost(ctx)
		if err != nil {
			return filled{}, err
		}
		return costRows(cfg.Styles, c), nil
	}
	return p
}

func costRows(s theme.Styles, c Cost) filled {
	f := filled{sum: money(c.Session.USD)}
	if c.Budget > 0 {
		f.rows = append(f.rows, still(func(width int) string {
			return theme.Cut(s.Bold.Styled(fmt.Sprintf("$%.2f of $%.2f spent", c.Spent, c.Budget)), width)
		}), still(func(width int) string { return bar(s, c.Spent/c.Budget, 0.8, min(width, 72)) }), blank())
	}
	f.rows = append(f.rows, useHead(s))
	if c.Turn != nil {
		name := "last turn"
		if c.TurnOpen {
			name = "this turn"
		}
		f.rows = append(f.rows, useRow(s, name, *c.Turn))
	}
	f.rows = append(f.rows, useRow(s, "session", c.Session))
	if len(c.Models) > 0 {
		f.rows = append(f.rows, blank(), heading(s, "By model"))
	}
	for _, m := range c.Models {
		f.rows = append(f.rows, useRow(s, m.Model, m.Use))
	}
	f.rows = append(f.rows, blank())
	notes := []string{"cached: read from the provider's cache; written: put into it"}
	if c.Session.USD == nil {
		notes = append(notes, "a price is not known, so the sum is not")
	}
	if c.Session.Lost > 0 {
		notes = append(notes, plain.Grouped(c.Session.Lost)+" tokens more were sent in calls that broke off")
	}
	for _, n := range notes {
		f.rows = append(f.rows, still(func(width int) string { return s.Quiet.Styled(theme.Cut(n, width)) }))
	}
	return f
}

func money(usd *float64) string {
	switch {
	case usd == nil:
		return "price unknown"
	case *usd > 0 && *usd < 0.01:
		return fmt.Sprintf("$%.4f", *usd)
	}
	return fmt.Sprintf("$%.2f", *usd)
}

// tokens shows a number of tokens in at most seven cells.
func tokens(n int64) string {
	switch {
	case n < 100_000:
		return plain.Grouped(n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// columns of what was used, the last ones only where there is room.
var columns = [...]struct {
	name string
	of   func(Use) string
}{
	{"cost", func(u Use) string { return strings.Replace(money(u.USD), "price unknown", "?", 1) }},
	{"out", func(u Use) string { return tokens(u.Output) }},
	{"in", func(u Use) string { return tokens(u.Input) }},
	{"cached", func(u Use) string { return tokens(u.CacheRead) }},
	{"written", func(u Use) string { return tokens(u.CacheWrite) }},
	{"calls", func(u Use) string { return known(u.Calls) }},
}

const columnWidth = 9

func known(n int64) string {
	if n == 0 {
		return ""
	}
	return plain.Grouped(n)
}

// useLine puts a name and as many columns as there is room for on a line.
func useLine(name string, width int, cell func(i int) string) string {
	n := min(max((width-14)/columnWidth, 1), len(columns))
	label := min(width-n*columnWidth, 32)
	var b strings.Builder
	b.WriteString(theme.Fit(name, max(label, 0)))
	for i := range n {
		b.WriteString(theme.FitRight(cell(i), columnWidth))
	}
	return theme.Cut(b.String(), width)
}

func useHead(s theme.Styles) row {
	return still(func(width int) string {
		return s.Quiet.Styled(useLine("tokens", width, func(i int) string { return columns[i].name }))
	})
}

func useRow(s theme.Styles, name string, u Use) row {
	name = plain.Shown(name, 100)
	r := still(func(width int) string { return useLine(name, width, func(i int) string { return columns[i].of(u) }) })
	r.find = name
	return r
}
