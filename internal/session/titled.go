package session

import (
	"fmt"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// TitleRequested tells that the model is asked for a title. The call is no part of the conversation and is never made
// again: until [TitleGiven] it counts as lost, which it stays if its holder dies or a turn begins.
type TitleRequested struct {
	headOnly
	Model    string `json:"model"`    // provider/model
	Estimate int64  `json:"estimate"` // tokens
}

func (b *TitleRequested) summary() string {
	return fmt.Sprintf("%s, about %d tokens", b.Model, b.Estimate)
}

func (b *TitleRequested) apply(s *State, _ store.Event) {
	u := s.use(b.Model)
	u.Lost++
	u.Usage.LostInput += b.Estimate
}

// TitleGiven is what came of the request for a title.
type TitleGiven struct {
	headOnly
	Model    string      `json:"model"`
	Estimate int64       `json:"estimate"`          // of the request, which is not lost
	Title    string      `json:"title,omitempty"`   // empty: none that could be used
	Refused  bool        `json:"refused,omitempty"` // by the API, which took nothing for it
	Usage    model.Usage `json:"usage"`
	Cost     *int64      `json:"cost,omitempty"` // nano-USD; nil: the price is unknown
}

func (b *TitleGiven) summary() string {
	if b.Title == "" {
		return "none"
	}
	return b.Title
}

// apply names the session, unless somebody has done so meanwhile, and counts what the call took.
func (b *TitleGiven) apply(s *State, _ store.Event) {
	u := s.use(b.Model)
	if u.Lost > 0 && u.Usage.LostInput >= b.Estimate {
		u.Lost--
		u.Usage.LostInput -= b.Estimate
	}
	if !b.Refused {
		s.charge(&ModelResponded{Model: b.Model, Usage: b.Usage, Cost: b.Cost})
	}
	if s.Title == "" {
		s.Title = b.Title
	}
}
