package talk_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
)

// writer writes a random log: turns with calls that end, fail, wait, go on in the background and end turns later.
type writer struct {
	*tape
	r    *rand.Rand
	live []string // tasks
	task int
}

func (w *writer) maybe() bool { return w.r.IntN(2) == 0 }

func (w *writer) turn(n int) {
	if w.maybe() {
		w.add(&session.MessageReceived{Note: true, Content: []model.Part{model.TextPart("[files changed]")}})
	}
	w.asks(n, fmt.Sprint("message ", n))
	for step := 1; step <= 1+w.r.IntN(3); step++ {
		if step > 1 {
			w.add(requested(n, step, 1))
		}
		blocks := reply(w.r)
		w.add(replied(n, step, blocks...))
		for i, b := range blocks {
			if b.Type == model.BlockToolUse {
				w.call(call(n, step, i+1))
			}
		}
		w.exits()
	}
	if w.r.IntN(4) == 0 {
		w.add(message("", fmt.Sprint("queued ", n)))
	}
	w.add(&session.TurnEnded{N: n, Stop: []string{session.TurnEndTurn, session.TurnCancelled, "max_steps"}[w.r.IntN(3)]})
	w.exits()
}

func (w *writer) exits() {
	for len(w.live) > 0 && w.r.IntN(3) == 0 {
		w.add(exited(w.live[0], w.r.IntN(2)))
		w.live = w.live[1:]
	}
}

func (w *writer) call(id string) {
	w.task++
	name := fmt.Sprint("bash_", w.task)
	switch w.r.IntN(6) {
	case 0:
		w.add(&session.ToolStarted{Act: id, Start: session.Start{Background: true, Task: name}}, finished(id, "started", 0))
		w.live = append(w.live, name)
	case 1:
		w.add(&session.ToolStarted{Act: id}, &session.ToolDetached{Act: id, Task: name}, finished(id, "goes on", 0))
		w.live = append(w.live, name)
	case 2:
		w.add(&session.ApprovalRequested{Act: id}, &session.ApprovalAnswered{Act: id}, &session.ToolFinished{Act: id, Outcome: session.OutcomeDenied})
	case 3:
		w.add(&session.ToolVoid{Act: id, Reason: "cancelled"})
	default:
		w.add(&session.ToolStarted{Act: id}, finished(id, "out\nput", w.r.IntN(3)))
	}
}

// A conversation that is read in pages, from its end on, while the session goes on, has the items of one that is read
// whole: their IDs differ by the prefix alone. Pages may even begin in the middle of a turn.
func TestPagesAreTheWhole(t *testing.T) {
	r := seeded(t)
	for range 400 {
		w := &writer{tape: newTape(), r: r}
		for n := 1; n <= 2+r.IntN(8); n++ {
			w.turn(n)
		}
		want := w.shown().items
		words := func(seq int64) []model.Part {
			m, _ := w.events[seq-1].body.(*session.MessageReceived)
			return m.Content
		}
		page := func(events []entry) *talk.Fold {
			f := talk.New(talk.Config{Dir: "/work", Words: words})
			for _, e := range events {
				f.Event(e.ev, e.body)
			}
			return f
		}
		// Some of it is there when somebody comes, the rest comes while pages are read.
		at := func(n int) int {
			i := r.IntN(n + 1)
			for whole := r.IntN(4) > 0; whole && i < n && w.events[i].ev.Kind != session.KindTurnStarted; i++ {
			}
			return i
		}
		known := at(len(w.events))
		low := at(known)
		live := page(w.events[low:known])
		var got sheet
		got.take(live.Take())
		for known < len(w.events) || low > 0 {
			if known < len(w.events) && r.IntN(3) > 0 {
				live.Event(w.events[known].ev, w.events[known].body)
				known++
				got.take(live.Take())
				continue
			}
			if low == 0 {
				continue
			}
			from := at(low - 1)
			got.items = append(live.Join(page(w.events[from:low]), ""), got.items...)
			low = from
		}
		if !reflect.DeepEqual(want, got.items) {
			t.Fatalf("whole\n%sin pages\n%s", &sheet{items: want}, &got)
		}
		if n := live.Held(); n > 4*len(w.live)+8 {
			t.Errorf("%d are held at the end; %d go on", n, len(w.live))
		}
	}
}

// Of another log's page the IDs have a prefix: what is said twice by its place in two logs is not the same.
func TestAPageOfAnotherLog(t *testing.T) {
	tp := newTape().asks(7, "go").add(replied(7, 1, runs("serve")))
	child := talk.New(talk.Config{})
	child.Event(tp.events[0].ev, &session.Forked{})
	child.Event(tp.events[1].ev, &session.ToolVoid{Act: call(7, 1, 1), Reason: "the parent's"})
	items := child.Join(tp.fold, "parent ")
	if len(items) != 2 || items[0].ID != "parent turn 7" || items[1].Call.Outcome != "nothing came of it: the parent's" || items[1].Call.State != transcript.Planned {
		t.Errorf("%+v", items)
	}
}

// What is remembered for earlier pages is bounded, as they may never be asked for.
func TestWhatIsRememberedForPagesIsBounded(t *testing.T) {
	tp := newTape()
	for i := range 10_000 {
		tp.add(exited(fmt.Sprint("bash_", i), 0))
	}
	if n := tp.fold.Held(); n > 2000 {
		t.Errorf("%d are held", n)
	}
}
