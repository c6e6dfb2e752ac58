package tools

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/perdure/perdure/internal/lineage"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Past knows where in a session's log words were brought in. The first question reads the log; each later one what came
// since, and of what came before only the events that have the words of what is asked. It is safe for concurrent use.
type Past struct {
	mu    sync.Mutex
	index lineage.Index
	read  []session.Range // up to where the index goes
}

// Ranges reads a part of a session's log, or of an ancestor's.
type Ranges func(ctx context.Context, r session.Range) iter.Seq2[store.Event, error]

// pastAtOnce bounds the events that are read before it is asked again what is still open; it begins with one, which most
// often says enough. pastGap bounds the events
// between two of them that are read over: that is cheaper than to ask the store again.
const (
	pastAtOnce = 32
	pastGap    = 8
)

// Said gives what may repeat one of the claims for which open is true, of these logs, in their order. What it leaves out
// repeats none of them.
func (p *Past) Said(ctx context.Context, logs []session.Range, read Ranges, claims []string, open func(claim int, from lineage.From) bool) iter.Seq2[lineage.Said, error] {
	return func(yield func(lineage.Said, error) bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := p.catchUp(ctx, logs, read); err != nil {
			yield(lineage.Said{}, err)
			return
		}
		look, last := p.index.Look(claims), logs[len(logs)-1]
		for n := 1; ; n = min(2*n, pastAtOnce) {
			places := look.Next(n, open)
			for len(places) > 0 && places[len(places)-1].Session == last.Session && places[len(places)-1].Seq > last.To {
				places = places[:len(places)-1] // a call beside this one has seen more
			}
			if len(places) == 0 {
				return
			}
			for said, err := range readPlaces(ctx, places, read) {
				if !yield(said, err) || err != nil {
					return
				}
			}
		}
	}
}

// catchUp adds what the index does not know yet.
func (p *Past) catchUp(ctx context.Context, logs []session.Range, read Ranges) error {
	for i, r := range logs {
		if i == len(p.read) {
			p.read = append(p.read, session.Range{Session: r.Session})
		}
		if p.read[i].To >= r.To {
			continue
		}
		for ev, err := range read(ctx, session.Range{Session: r.Session, From: p.read[i].To + 1, To: r.To}) {
			if err == nil {
				err = p.index.Add(r.Session, ev)
			}
			if err != nil {
				return err
			}
			p.read[i].To = ev.Seq
		}
	}
	return nil
}

// readPlaces reads the events at these places.
func readPlaces(ctx context.Context, places []lineage.Place, read Ranges) iter.Seq2[lineage.Said, error] {
	return func(yield func(lineage.Said, error) bool) {
		for len(places) > 0 {
			n, left := 1, len(places)
			for n < len(places) && places[n].Session == places[0].Session && places[n].Seq-places[n-1].Seq <= pastGap {
				n++
			}
			r := session.Range{Session: places[0].Session, From: places[0].Seq, To: places[n-1].Seq}
			for ev, err := range read(ctx, r) {
				if err == nil && ev.Seq != places[0].Seq {
					continue
				}
				var said lineage.Said
				if err == nil {
					said, err = new(lineage.Log).Said(ev)
				}
				said.From, places = places[0].From, places[1:]
				if !yield(said, err) || err != nil {
					return
				}
			}
			if len(places) == left {
				yield(lineage.Said{}, fmt.Errorf("session %s: event %d: %w", r.Session, r.From, store.ErrNotFound))
				return
			}
		}
	}
}
