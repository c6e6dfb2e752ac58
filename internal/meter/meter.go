// Package meter counts what model calls take: tokens, and what they cost.
package meter

import "github.com/perdure/perdure/model"

// Add sums what is used into a total.
func Add(total *model.Usage, used model.Usage) {
	total.Input += used.Input
	total.Output += used.Output
	total.CacheRead += used.CacheRead
	total.CacheWrite += used.CacheWrite
	total.LostInput += used.LostInput
}

// Window is how many tokens a call's request and reply take in the model's window.
func Window(u model.Usage) int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Cost is the price of a sealed call in nano-USD. A nil price is unknown and costs nil.
func Cost(p *model.Price, u model.Usage) *int64 {
	if p == nil {
		return nil
	}
	n := u.Input*p.Input + u.Output*p.Output + u.CacheRead*p.CacheRead + u.CacheWrite*p.CacheWrite
	return &n
}
