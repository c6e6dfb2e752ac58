package screen

import (
	"context"
	"iter"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// How often what has come is shown, and how the session stands is looked at by itself.
const (
	showEvery  = 30 * time.Millisecond
	standEvery = 2 * time.Second
	heldEvery  = 15 * time.Second
)

// feed follows a session and hands on what becomes of it, many things at once.
type feed struct {
	link    *link
	after   int64
	some    chan struct{}  // holds one if there is something to show
	running sync.WaitGroup // what start began

	mu   sync.Mutex
	fold *talk.Fold
	gone *chat.Gone
}

func newFeed(l *link, fold *talk.Fold, after int64) *feed {
	return &feed{link: l, fold: fold, after: after, some: make(chan struct{}, 1)}
}

// start begins; it ends with ctx, or with the session.
func (f *feed) start(ctx context.Context, send func(tea.Msg)) {
	over := make(chan struct{})
	f.running.Go(func() {
		defer close(over)
		f.follow(ctx)
	})
	f.running.Go(func() { f.show(ctx, send, over) })
}

// look has the stand looked at soon.
func (f *feed) look() {
	select {
	case f.some <- struct{}{}:
	default:
	}
}

// join gives the items of an earlier page.
func (f *feed) join(page *talk.Fold, prefix string) []transcript.Item {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fold.Join(page, prefix)
}

// follow reads what comes.
func (f *feed) follow(ctx context.Context) {
	l := f.link
	id, held, err := l.there()
	if err != nil {
		return
	}
	var updates iter.Seq2[engine.Update, error]
	if held != nil {
		updates = held.Updates(ctx, f.after)
	} else {
		updates = l.home.Watch(ctx, id, f.after)
	}
	for u, err := range updates {
		if err != nil {
			if ctx.Err() == nil {
				f.end(&chat.Gone{Text: err.Error(), Err: err})
			}
			return
		}
		f.mu.Lock()
		if u.Event != nil {
			f.fold.Event(*u.Event, u.Body)
		} else {
			f.fold.Delta(u.Act, u.Kind, u.Text)
		}
		f.mu.Unlock()
		f.look()
	}
	if held != nil && ctx.Err() == nil {
		f.end(goneBy(held.Err()))
	}
}

func (f *feed) end(g *chat.Gone) {
	f.mu.Lock()
	f.gone = g
	f.mu.Unlock()
	f.look()
}

// answers reports whether the words of a model call come.
func (f *feed) answers(act string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fold.Answers(act)
}

// show hands on what has come, at most so often.
func (f *feed) show(ctx context.Context, send func(tea.Msg), over <-chan struct{}) {
	every := standEvery
	if _, held, _ := f.link.there(); held != nil {
		every = heldEvery // what happens to it is told
	}
	stand := time.NewTicker(every)
	defer stand.Stop()
	f.look()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stand.C:
		case <-f.some:
		case <-over:
			over = nil
		}
		f.mu.Lock()
		msg, gone := f.fold.Take(), f.gone
		f.mu.Unlock()
		if st, err := f.link.state(ctx); err == nil {
			s := f.link.stand(ctx, st)
			if c := st.NewestCall(); s.Activity == thinking && c != nil && f.answers(c.ID) {
				s.Activity = "answering"
			}
			msg.Stand = &s
			f.link.thrift.stands(s.Working)
		}
		send(msg)
		if gone != nil {
			send(*gone)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(showEvery):
		}
	}
}
