package board

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
)

// What comes back from the source, and the beats that ask it.
type (
	listMsg struct {
		rows    []Row
		changed bool
		err     error
		took    time.Duration
	}
	listBeat struct{ n int }
	peekBeat struct{ n int }
	peekMsg  struct {
		n    int
		peek Peek
		over bool
		err  error
	}
	doneMsg struct {
		id, done string
		err      error
	}
)

// look looks at all sessions, unless somebody is at it: then once more when that is done.
func (m *Model) look() tea.Cmd {
	if m.listing {
		m.again = true
		return nil
	}
	m.listing = true
	source, now := m.cfg.Source, m.cfg.Now
	return func() tea.Msg {
		begin := now()
		rows, changed, err := source.List(context.Background())
		return listMsg{rows: rows, changed: changed, err: err, took: now().Sub(begin)}
	}
}

// got takes a list, and asks for the next one later: the longer this one took, the later.
func (m *Model) got(msg listMsg) tea.Cmd {
	m.failure, m.listing = "", false
	var look tea.Cmd
	switch {
	case msg.err != nil:
		m.failure = msg.err.Error()
	case msg.changed || !m.listed:
		m.rows, m.listed = msg.rows, true
		look = m.arrange()
	}
	if m.again {
		m.again = false
		return tea.Batch(look, m.look())
	}
	m.beat++
	return tea.Batch(look, m.later(max(m.cfg.Every, min(maxLooking*msg.took, maxPause)), listBeat{m.beat}))
}

// arrange puts the sessions in their groups, the newest first. The selected one stays selected while it is shown.
func (m *Model) arrange() tea.Cmd {
	groups := [groupsN][]*Row{}
	for i := range m.rows {
		r := &m.rows[i]
		if r.Group >= 0 && r.Group < groupsN && matches(r, m.words) {
			groups[r.Group] = append(groups[r.Group], r)
		}
	}
	m.lines = m.lines[:0]
	for g, rows := range groups {
		m.counts[g] = len(rows)
		if len(rows) == 0 {
			continue
		}
		slices.SortStableFunc(rows, func(a, b *Row) int { return b.Since.Compare(a.Since) })
		m.lines = append(m.lines, line{head: Group(g)})
		shown := rows
		if Group(g) == Rests && m.words == "" {
			shown = rows[:min(len(rows), maxRests)]
		}
		for _, r := range shown {
			m.lines = append(m.lines, line{head: Group(g), row: r})
		}
		m.lines[len(m.lines)-1].extra = len(rows) - len(shown)
	}
	was := m.selected()
	m.list.Set(len(m.lines), func(i int) (string, bool) {
		if r := m.lines[i].row; r != nil {
			return r.ID, true
		}
		return "", false
	})
	if m.selected() == was {
		return nil
	}
	return m.settle()
}

// matches reports whether all words of a filter are in a row.
func matches(r *Row, words string) bool {
	return list.Matches(words, r.Title, r.Dir, r.ID, r.Status, r.About)
}

// move selects another row, over the headings.
func (m *Model) move(by int) tea.Cmd {
	if m.list.Move(by) {
		return m.settle()
	}
	return nil
}

// filter shows the rows that have all words.
func (m *Model) filter(words string) tea.Cmd {
	m.words = words
	return m.arrange()
}

// peeked is what is known of the selected session.
type peeked struct {
	n    int // the only look that counts
	id   string
	peek Peek
	err  string
	seen bool
	stop context.CancelFunc
	news chan Peek // of the source; holds the newest
}

// settle looks into the selected session when it has been selected for a moment: who moves fast looks into none.
func (m *Model) settle() tea.Cmd {
	m.peek.stop()
	n := m.peek.n + 1
	m.peek = peeked{n: n, id: m.selected(), stop: func() {}}
	if m.peek.id == "" {
		return nil
	}
	return m.later(settleFor, peekBeat{n})
}

// peekIn begins to look into the selected session.
func (m *Model) peekIn() tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	news, over := make(chan Peek, 1), make(chan error, 1)
	m.peek.stop, m.peek.news = stop, news
	source, id := m.cfg.Source, m.peek.id
	go func() { // it ends with ctx, which Close and every other selection end
		over <- source.Peek(ctx, id, func(p Peek) {
			select { // the newest alone is kept
			case <-news:
			default:
			}
			select {
			case news <- p:
			case <-ctx.Done():
			}
		})
		close(news)
	}()
	return next(m.peek.n, news, over)
}

// next waits for what comes of a session.
func next(n int, news chan Peek, over chan error) tea.Cmd {
	return func() tea.Msg {
		p, ok := <-news
		if !ok {
			return peekMsg{n: n, over: true, err: <-over}
		}
		return peekAnd{peekMsg{n: n, peek: p}, over}
	}
}

// peekAnd is a peek that more may follow.
type peekAnd struct {
	peekMsg
	over chan error
}

func (m *Model) gotPeek(msg peekMsg, over chan error) tea.Cmd {
	if msg.n != m.peek.n {
		return nil
	}
	if msg.over {
		if msg.err != nil {
			m.peek.err, m.peek.seen = msg.err.Error(), true
		}
		return nil
	}
	m.peek.peek, m.peek.seen, m.peek.err = msg.peek, true, ""
	wait := next(msg.n, m.peek.news, over)
	return m.later(peekEvery, nextBeat{msg.n, wait})
}

// nextBeat waits for the next peek, a moment after the one before.
type nextBeat struct {
	n    int
	wait tea.Cmd
}

// act does something with a session.
func (m *Model) act(id, verb, done string, do func(context.Context) error) tea.Cmd {
	m.busy[id] = verb
	return func() tea.Msg { return doneMsg{id: id, done: done, err: do(context.Background())} }
}

// gotDone tells how it went, and looks again at once.
func (m *Model) gotDone(msg doneMsg) tea.Cmd {
	delete(m.busy, msg.id)
	if msg.err != nil {
		m.tell(true, msg.err.Error())
	} else {
		m.tell(false, msg.done)
	}
	return m.look()
}
