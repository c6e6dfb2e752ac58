package screen

import (
	"context"
	"slices"
	"sync"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Bounds of what is read of a log at a time, in events: enough for some screens, and never more than one long turn.
const (
	firstEvents = 200
	pageEvents  = 2000
	maxTurn     = 50_000
)

// earlier reads a session's earlier conversation, from its end on, in whole turns.
type earlier struct {
	home *homes.Home
	id   string
	dir  string

	mu      sync.Mutex
	through int64           // seq of the newest event that was not read; 0: none is left in this log
	rest    []session.Range // logs that come before, the newest last
	looked  bool            // rest is known
	done    bool
}

// words reads messages by their seq.
func (p *earlier) words(ctx context.Context) func(int64) []model.Part {
	return wordsOf(ctx, p.home, p.id)
}

func wordsOf(ctx context.Context, h *homes.Home, id string) func(int64) []model.Part {
	return func(seq int64) []model.Part {
		for ev, err := range h.Events(ctx, id, seq, seq) {
			if err != nil {
				return nil
			}
			if b, err := session.Decode(ev); err == nil {
				if m, ok := b.(*session.MessageReceived); ok {
					return m.Content
				}
			}
		}
		return nil
	}
}

// newest folds the end of the log, up to the state's head.
func (p *earlier) newest(ctx context.Context, fold *talk.Fold, st *session.State) (first int64, items []transcript.Item, more bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	events, err := p.read(ctx, p.id, st.Head.Seq, firstEvents)
	if err != nil {
		return 0, nil, false, err
	}
	first = st.Head.Seq + 1
	if len(events) > 0 {
		first = events[0].Seq
	}
	early := &session.State{}
	for _, q := range st.Queue {
		if q.Seq < first {
			early.Queue = append(early.Queue, q)
		}
	}
	fold.Opened(early, p.words(ctx))
	if err := play(fold, events); err != nil {
		return 0, nil, false, err
	}
	p.through = first - 1
	p.done = p.through <= 0 && !p.forked(ctx)
	return first, fold.Take().Items, !p.done, nil
}

// read gives events up to a seq, at least so many if there are as many, and from the beginning of a turn on.
func (p *earlier) read(ctx context.Context, id string, through int64, least int) ([]store.Event, error) {
	var out []store.Event
	for ev, err := range p.home.Range(ctx, id, homes.Range{Through: through, Reverse: true}) {
		if err != nil {
			return nil, err
		}
		out = append(out, ev)
		if len(out) >= least && ev.Kind == session.KindTurnStarted || len(out) >= maxTurn {
			break
		}
	}
	slices.Reverse(out)
	return out, nil
}

func play(fold *talk.Fold, events []store.Event) error {
	for _, ev := range events {
		body, err := session.Decode(ev)
		if err != nil {
			return err
		}
		fold.Event(ev, body)
	}
	return nil
}

// forked finds the logs that come before this one, and reports whether there are any.
func (p *earlier) forked(ctx context.Context) bool {
	if !p.looked {
		p.looked = true
		p.rest, _ = sessions.Ancestors(ctx, p.home, p.id) // what cannot be found cannot be shown
	}
	return len(p.rest) > 0
}

// older reads the turns before those that were read.
func (p *earlier) older(ctx context.Context) (items []transcript.Item, more bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil, false, nil
	}
	if p.through <= 0 && p.forked(ctx) {
		last := p.rest[len(p.rest)-1]
		p.rest = p.rest[:len(p.rest)-1]
		p.id, p.through = last.Session, last.To
	}
	events, err := p.read(ctx, p.id, p.through, pageEvents)
	if err != nil {
		return nil, true, err
	}
	fold := talk.New(talk.Config{Dir: p.dir, Words: wordsOf(ctx, p.home, p.id)})
	if err := play(fold, events); err != nil {
		return nil, true, err
	}
	if p.through = 0; len(events) > 0 {
		p.through = events[0].Seq - 1
	}
	items = fold.Take().Items
	for i := range items {
		items[i].ID = p.id + " " + items[i].ID
	}
	p.done = p.through <= 0 && !p.forked(ctx)
	return items, !p.done, nil
}
