package talk

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
)

// late is an event about a call that a fold does not know: it was made before the first event that the fold saw.
type late struct {
	ev   store.Event
	body session.Body
}

// later remembers an event for the page that has its call. At most maxCalls are, the newest.
func (f *Fold) later(l late) {
	if len(f.late) >= maxCalls {
		f.late = f.late[1:]
	}
	f.late = append(f.late, l)
}

// Join gives the items of the page that comes right before all that the fold has seen, once it was folded by p, with a
// prefix before their IDs. Of its calls they tell what became of them since; what is still to become of them comes by
// Take. The page's fold must not be used any more.
func (f *Fold) Join(p *Fold, prefix string) []transcript.Item {
	since := f.late
	f.late = p.late
	p.late = nil
	for _, l := range since {
		p.at = l.ev.Seq
		p.became(l.ev, l.body)
	}
	for _, l := range p.late {
		f.later(l)
	}
	items := p.Take().Items
	for i := range items {
		items[i].ID = prefix + items[i].ID
		if prefix != "" {
			items[i].At = 0 // it is not of this log
		}
	}
	for base, it := range p.calls {
		if f.calls[base] == nil && it.Call.State.Live() && len(f.calls) < maxCalls {
			it.ID = prefix + it.ID
			f.calls[base] = it
		}
	}
	for task, base := range p.tasks {
		if f.tasks[task] == "" && f.calls[base] != nil {
			f.tasks[task] = base
		}
	}
	return items
}
