package session

import (
	"slices"

	"github.com/perdure/perdure/store"
)

// Bounds of the list of ranges: events that are no conversation leave holes of at least minHole events, and the list
// is halved by closing holes when it grows over maxRanges.
const (
	minHole   = 16
	maxRanges = 512
)

// Conversation lists where the events of the live context are, a fork's ancestors first. It names whole ranges: a
// reader skips what is no conversation in them.
func (s *State) Conversation() []Range {
	return append(slices.Clone(s.Base), s.Context.Ranges...)
}

// converse extends the ranges by an event.
func (s *State) converse(e store.Event, body Body) {
	if _, ok := body.(spoken); !ok {
		return
	}
	rs := s.Context.Ranges
	if n := len(rs); n > 0 && rs[n-1].Session == s.ID && e.Seq-rs[n-1].To <= minHole {
		rs[n-1].To = e.Seq
		return
	}
	s.Context.Ranges = append(rs, Range{Session: s.ID, From: e.Seq, To: e.Seq})
	kept := s.keptRanges()
	if len(s.Context.Ranges)-kept > maxRanges {
		s.Context.Ranges = append(slices.Clip(s.Context.Ranges[:kept]), halve(s.Context.Ranges[kept:])...)
	}
}

// keptRanges counts the ranges that the newest compaction fixed: what lies between them is left out.
func (s *State) keptRanges() int {
	if s.Overlay == nil {
		return 0
	}
	n := slices.IndexFunc(s.Context.Ranges[1:], func(r Range) bool { return r.Session == s.ID && r.From > s.Overlay.Seq })
	if n < 0 {
		return len(s.Context.Ranges)
	}
	return n + 1
}

// halve joins neighbouring ranges in pairs, but leaves the newest one alone.
func halve(rs []Range) []Range {
	out := make([]Range, 0, len(rs)/2+2)
	for i := 0; i < len(rs); i += 2 {
		r := rs[i]
		if i+1 < len(rs)-1 {
			r.To = rs[i+1].To
		} else if i+1 == len(rs)-1 {
			out = append(out, r)
			r = rs[i+1]
		}
		out = append(out, r)
	}
	return out
}
