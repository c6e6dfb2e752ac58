package talk_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/cli/screen/talk"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
)

// bare draws each text as it is.
type bare struct{}

func (bare) Lines(text string, _ int) []string   { return strings.Split(text, "\n") }
func (bare) Stream(int) transcript.Stream        { return &grows{} }
func drawn(transcript.Diff, int) (none []string) { return nil }

type grows struct{ text string }

func (g *grows) Add(text string) { g.text += text }
func (*grows) SetWidth(int)      {}
func (g *grows) Lines() []string { return strings.Split(g.text, "\n") }

// screenOf is a transcript that holds so many bytes of items.
func screenOf(bytes int) *transcript.Model {
	m := transcript.New(transcript.Config{Prose: bare{}, Style: theme.Plain(), Diff: drawn, Now: func() time.Time { return begin }, Bytes: bytes})
	m.SetSize(100, 5)
	return m
}

func puts(m *transcript.Model, c chat.Changed) {
	for _, id := range c.Drop {
		m.Drop(id)
	}
	for _, it := range c.Items {
		m.Put(it)
	}
}

func printed(m *transcript.Model) (lines []string) {
	m.Print(100, func(l string) { lines = append(lines, strings.TrimSpace(l)) })
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// Goal: a screen that lets go of the beginning of a long conversation, and reads it again when somebody scrolls there,
// shows what one shows that holds all of it: no item is lost, none is there twice, and what has changed since is as it
// is now.
func TestWhatIsLetGoOfIsReadAgain(t *testing.T) {
	r := seeded(t)
	for range 200 {
		w := &writer{tape: newTape(), r: r}
		for n := 1; n <= 20; n++ {
			w.turn(n)
		}
		words := func(seq int64) []model.Part {
			m, _ := w.events[seq-1].body.(*session.MessageReceived)
			return m.Content
		}
		fold := func() *talk.Fold { return talk.New(talk.Config{Dir: "/work", Words: words}) }
		all, some, live := screenOf(1<<30), screenOf(20_000), fold()
		low := 0
		older := func() {
			from := max(low-30, 0)
			for from > 0 && w.events[from].ev.Kind != session.KindTurnStarted {
				from--
			}
			page := fold()
			for _, e := range w.events[from:low] {
				page.Event(e.ev, e.body)
			}
			some.Prepend(live.Join(page, ""))
			low = from
		}
		for _, e := range w.events {
			live.Event(e.ev, e.body)
			c := live.Take()
			puts(all, c)
			puts(some, c)
			if through := some.Forget(); through > 0 {
				low = int(through)
			}
			if low > 0 && r.IntN(40) == 0 {
				older()
			}
		}
		if some.Len() >= all.Len() {
			t.Fatalf("nothing was let go of: %d of %d", some.Len(), all.Len())
		}
		for low > 0 {
			older()
		}
		if got, want := printed(some), printed(all); !slices.Equal(got, want) {
			t.Fatalf("all\n%s\nread again\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
}
