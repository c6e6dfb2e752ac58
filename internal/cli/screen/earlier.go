package screen

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/perdure/perdure/internal/cli/app"
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
	own  string // the session
	dir  string
	join func(page *talk.Fold, prefix string) []transcript.Item // see [talk.Fold.Join]; required for older

	first, page int // events that are read at least; see firstEvents, pageEvents

	mu      sync.Mutex
	id      string          // whose log is read
	through int64           // seq of the newest event that was not read; 0: none is left in this log
	rest    []session.Range // logs that come before, the newest last
	looked  bool            // rest is known
	done    bool
}

func newEarlier(h *homes.Home, id, dir string) *earlier {
	return &earlier{home: h, own: id, id: id, dir: dir, first: firstEvents, page: pageEvents}
}

// fold is one for events of the log that is read.
func (p *earlier) fold(ctx context.Context) *talk.Fold {
	return talk.New(talk.Config{
		ID: p.id, Dir: p.dir, Words: wordsOf(ctx, p.home, p.id), Hide: p.home.Hide, Draft: DraftOf,
		Called: func(id string) string { return app.Called(ctx, p.home, id) },
	})
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

// newest folds the end of the log, up to the state's head; of a session that has hardly begun also what comes before it.
func (p *earlier) newest(ctx context.Context, fold *talk.Fold, st *session.State) (items []transcript.Item, more bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	events, err := p.read(ctx, p.id, st.Head.Seq, p.first)
	if err != nil {
		return nil, false, err
	}
	first := st.Head.Seq + 1
	if len(events) > 0 {
		first = events[0].Seq
	}
	early := &session.State{}
	for _, q := range st.Queue {
		if q.Seq < first {
			early.Queue = append(early.Queue, q)
		}
	}
	fold.Opened(early, wordsOf(ctx, p.home, p.id))
	if err := play(fold, events); err != nil {
		return nil, false, err
	}
	items = fold.Take().Items
	p.through = first - 1
	if p.done, err = p.last(ctx); err != nil || p.done || len(events) >= p.first {
		return items, !p.done, err
	}
	before, err := p.turns(ctx, p.first)
	if err != nil { // whoever asks for it is told
		return items, true, nil
	}
	return append(before, items...), !p.done, nil
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

// last reports whether nothing comes before what was read.
func (p *earlier) last(ctx context.Context) (bool, error) {
	if p.through > 0 {
		return false, nil
	}
	if !p.looked {
		rest, err := sessions.Ancestors(ctx, p.home, p.own)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // what is gone cannot be shown
			return false, err
		}
		p.rest, p.looked = rest, true
	}
	return len(p.rest) == 0, nil
}

// older reads the turns before those that were read.
func (p *earlier) older(ctx context.Context) (items []transcript.Item, more bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done {
		return nil, false, nil
	}
	items, err = p.turns(ctx, p.page)
	return items, !p.done, err
}

// turns reads turns of at least so many events, if there are as many in the log.
func (p *earlier) turns(ctx context.Context, least int) ([]transcript.Item, error) {
	if p.through <= 0 {
		var err error
		if p.done, err = p.last(ctx); err != nil || p.done {
			return nil, err
		}
		last := p.rest[len(p.rest)-1]
		p.rest = p.rest[:len(p.rest)-1]
		p.id, p.through = last.Session, last.To
	}
	events, err := p.read(ctx, p.id, p.through, least)
	if err != nil {
		return nil, err
	}
	page := p.fold(ctx)
	if err := play(page, events); err != nil {
		return nil, err
	}
	prefix := ""
	if p.id != p.own {
		prefix = p.id + " "
	}
	items := p.join(page, prefix)
	if p.through = 0; len(events) > 0 {
		p.through = events[0].Seq - 1
	}
	if done, err := p.last(ctx); err == nil { // else it is looked for again
		p.done = done
	}
	return items, nil
}
