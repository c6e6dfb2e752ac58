// Package pricing knows what models cost and how much they hold.
//
// The table is a copy of public price lists, read on 2026-11-21: Anthropic's "Models & pricing" pages and OpenAI's API
// pricing page, standard tier, prompt caching with the shortest lifetime (the one that package anthropic asks for).
// It says nothing of discounts, batches, fast modes, regional surcharges or what a reseller behind a base URL takes.
//
// A model is found by its name, also when a date or "-latest" follows it. What is not found has no price: a nil
// *model.Price costs nil, which is shown as unknown and never as free. Models of a local Ollama and scripted ones
// cost nothing, and that is known; an unknown model behind the provider openai is not local until its user says so,
// so its price stays unknown.
package pricing

import (
	"strings"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/model"
)

// Model is what is known of a model. A zero Window or MaxOutput is unknown.
type Model struct {
	Name      string       // as the table has it
	Price     *model.Price // nil is unknown
	Long      *model.Price // price of the whole call when the prompt is larger than LongOver; nil: Price
	LongOver  int64        // tokens of the prompt, cached ones included
	Window    int64        // tokens of a request and its reply
	MaxOutput int64        // most tokens of a reply
}

// Lookup finds a provider's model. The second result is false when nothing is known of it.
func Lookup(provider, name string) (Model, bool) {
	switch provider {
	case "ollama", "scripted":
		return Model{Name: name, Price: &model.Price{}}, true
	case "anthropic":
		return find(claude(), name)
	case "openai":
		return find(gpt(), name)
	}
	return Model{}, false
}

// Known lists the models of a provider that the table has, in its order.
func Known(provider string) (out []Model) {
	var table []row
	switch provider {
	case "anthropic":
		table = claude()
	case "openai":
		table = gpt()
	}
	for _, r := range table {
		out = append(out, r.model())
	}
	return out
}

// Cost is what a sealed call costs in nano-USD; nil is unknown.
func Cost(provider, name string, u model.Usage) *int64 {
	m, _ := Lookup(provider, name)
	return meter.Cost(m.PriceFor(u.Input+u.CacheRead+u.CacheWrite), u)
}

// PriceFor is the price of a call with a prompt of so many tokens; nil is unknown.
func (m Model) PriceFor(prompt int64) *model.Price {
	if m.Long != nil && prompt > m.LongOver {
		return m.Long
	}
	return m.Price
}

// find takes the longest name of the table that name is, or continues with a version date or "-latest". A name that
// continues otherwise is another model.
func find(table []row, name string) (Model, bool) {
	for _, r := range table {
		if rest, ok := strings.CutPrefix(name, r.name); ok && isDate(rest) {
			return r.model(), true
		}
	}
	return Model{}, false
}

// isDate reports whether s is empty, -latest, -20251001 or -2025-10-01.
func isDate(s string) bool {
	if s == "" || s == "-latest" {
		return true
	}
	digits := strings.ReplaceAll(s, "-", "")
	if len(digits) != 8 || s[0] != '-' {
		return false
	}
	return strings.Trim(digits, "0123456789") == "" && digits[:2] == "20"
}
