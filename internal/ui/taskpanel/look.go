package taskpanel

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// What comes back from the source, and the beats that ask it.
type (
	listMsg struct {
		tasks []Task
		err   error
		at    time.Time
		took  time.Duration
	}
	listBeat struct{ n int }
	tailMsg  struct {
		key  Key
		tail Tail
		err  error
	}
	tailBeat struct{}
	doneMsg  struct {
		key  Key
		done string
		err  error
	}
)

// look looks at all tasks, unless somebody is at it: then once more when that is done.
func (m *Model) look() tea.Cmd {
	if m.listing {
		m.again = true
		return nil
	}
	m.listing = true
	source, now := m.cfg.Source, m.cfg.Now
	return func() tea.Msg {
		begin := now()
		tasks, err := source.List(context.Background())
		end := now()
		return listMsg{tasks: tasks, err: err, at: end, took: end.Sub(begin)}
	}
}

func (m *Model) tailLater() tea.Cmd {
	return m.later(tailEvery, tailBeat{})
}

// gotList takes a list, and asks for the next one later: the longer this one took, the later.
func (m *Model) gotList(msg listMsg) tea.Cmd {
	m.failure, m.listing = "", false
	if msg.err != nil {
		m.failure = msg.err.Error()
	} else {
		m.tasks, m.listed = msg.tasks, true
		m.percent.note(msg.tasks, msg.at)
	}
	m.arrange()
	if m.again {
		m.again = false
		return m.look()
	}
	m.beat++
	next := m.later(max(m.cfg.Every, maxLooking*msg.took), listBeat{m.beat})
	if k, _ := m.list.Selected(); m.tail.key != k {
		return tea.Batch(next, m.lookAtTail())
	}
	return next
}

// lookAtTail asks for the selected task's output, unless somebody is at it.
func (m *Model) lookAtTail() tea.Cmd {
	t, ok := m.Selected()
	if !ok || m.tail.asking {
		return nil
	}
	if t.Key != m.tail.key || t.Attempt != m.tail.attempt {
		m.tail.reset(t)
	} else if m.tail.back > 0 {
		return nil // what somebody reads does not move under their eyes
	} else if m.tail.known && t.Printed == m.tail.end && !t.State.Live() {
		return nil
	}
	m.tail.asking = true
	source, have := m.cfg.Source, int64(-1)
	if m.tail.known {
		have = m.tail.end
	}
	return func() tea.Msg {
		got, err := source.Tail(context.Background(), t.Key, have, tailSize)
		return tailMsg{key: t.Key, tail: got, err: err}
	}
}

// act does what a person confirmed.
func (m *Model) act(q question) tea.Cmd {
	m.busy[q.key] = q.verb
	return func() tea.Msg { return doneMsg{key: q.key, done: q.done, err: q.do(context.Background(), q.key)} }
}

// gotDone tells how it went, and looks again at once.
func (m *Model) gotDone(msg doneMsg) tea.Cmd {
	delete(m.busy, msg.key)
	if msg.err != nil {
		m.tell(true, "%s: %v", msg.key.ID, msg.err)
	} else {
		m.tell(false, "%s %s", msg.key.ID, msg.done)
	}
	return m.look()
}

// percents is how much of a processor each task uses, from one list to the next.
type percents map[Key]usage

type usage struct {
	attempt int
	cpu     time.Duration
	at      time.Time
	share   float64 // of one processor
	known   bool
}

func (p percents) note(tasks []Task, at time.Time) {
	seen := make(map[Key]bool, len(tasks))
	for _, t := range tasks {
		if !t.State.Live() {
			continue
		}
		seen[t.Key] = true
		now, was := usage{attempt: t.Attempt, cpu: t.CPU, at: at}, p[t.Key]
		const soonest = 200 * time.Millisecond // the system counts in hundredths of a second
		switch passed := at.Sub(was.at); {
		case was.at.IsZero() || was.attempt != t.Attempt || t.CPU < was.cpu:
		case passed < soonest:
			continue
		default:
			now.share, now.known = float64(t.CPU-was.cpu)/float64(passed), true
		}
		p[t.Key] = now
	}
	for k := range p {
		if !seen[k] {
			delete(p, k)
		}
	}
}
