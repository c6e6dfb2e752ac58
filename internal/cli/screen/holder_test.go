package screen

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/store"
)

func offers(q *heldQuestion) string { return q.View().Content }

// Goal: a session whose holder answers is taken over by two presses, since that ends what goes on there; of one that
// does not answer it is said, and one press takes it over. What waits is enough to find out.
func TestAHolderThatDoesNotAnswerIsTakenOverWithOneKey(t *testing.T) {
	now := time.Unix(1000, 0)
	info := store.Info{Mark: 3, Holder: &store.Holder{ID: "a", Host: "elsewhere", PID: 7}}
	question := func(silent string) *heldQuestion {
		q := &heldQuestion{style: theme.Plain(), id: "s", holder: *info.Holder, since: "1h ago", silent: silent, look: func() (store.Info, error) { return info, nil }, now: func() time.Time { return now }}
		q.Update(tea.WindowSizeMsg{Width: 120, Height: 20})
		q.Update(q.Init()())
		return q
	}
	press := func(q *heldQuestion, key rune) { q.Update(tea.KeyPressMsg{Code: key, Text: string(key)}) }

	q := question("")
	for range 60 {
		now = now.Add(time.Second)
		q.Update(q.looks()())
	}
	if strings.Contains(offers(q), "not answer") {
		t.Errorf("nothing waits for it:\n%s", offers(q))
	}
	if press(q, 't'); q.what == picker.TakeOver || !strings.Contains(offers(q), "t again takes the session over") {
		t.Errorf("one press: %v\n%s", q.what, offers(q))
	}
	if press(q, 't'); q.what != picker.TakeOver {
		t.Errorf("two presses: %v", q.what)
	}

	info.Pending = 1
	q = question("")
	for range 8 {
		now = now.Add(time.Second)
		q.Update(q.looks()())
	}
	if !strings.Contains(offers(q), "That process has not answered for ") {
		t.Errorf("it is not said:\n%s", offers(q))
	}
	if press(q, 't'); q.what != picker.TakeOver {
		t.Errorf("one press: %v\n%s", q.what, offers(q))
	}

	info.Heads.Title = "The \x1b[31mRoof"
	q = question("")
	if !strings.Contains(offers(q), "The Roof") || strings.Contains(offers(q), "\x1b[31m") {
		t.Errorf("which session it is:\n%s", offers(q))
	}

	q = question("has not answered for 9s")
	if press(q, 't'); q.what != picker.TakeOver {
		t.Errorf("it was said before: %v\n%s", q.what, offers(q))
	}
}
