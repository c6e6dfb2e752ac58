package screen_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/ui/chat"
)

// The screen is told how far work of the home is that takes long, before there is a session too, that it goes on, and that
// it is over.
func TestTheScreenIsToldOfLongWork(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	var mu sync.Mutex
	said := []string{}
	last := func() string {
		mu.Lock()
		defer mu.Unlock()
		if len(said) == 0 {
			return "nothing"
		}
		return said[len(said)-1]
	}
	l, _, err := screen.OpenLink(t.Context(), screen.Config{App: w.App, Home: h}, func(msg tea.Msg) {
		if m, ok := msg.(chat.Working); ok {
			mu.Lock()
			said = append(said, m.Text)
			mu.Unlock()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	work := h.Progress().Begin("restoring files", "")
	work.Set(1, 2)
	clitest.Until(t, "the work is told", func() bool { return last() == "restoring files: 1 of 2" })
	work.Set(2, 2)
	clitest.Until(t, "it is told again", func() bool { return last() == "restoring files: 2 of 2" })
	work.End()
	clitest.Until(t, "its end is told", func() bool { return last() == "" })
}

// A session whose files take long to copy is made all the same: its making has no bound as long as the screen is there.
func TestMakingASessionMayTakeLong(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"text":"Good day."}`))
	defer w.Close(h)
	bounded := true
	d := sits(t, w, h, func(c *screen.Config) {
		create := c.Create
		c.Create = func(ctx context.Context, prompt string) (string, error) {
			_, bounded = ctx.Deadline()
			return create(ctx, prompt)
		}
	})
	defer d.leaves()
	d.says("k1", "hello")
	d.sees("> hello\nGood day.\n")
	if bounded {
		t.Error("it has to be made within some time")
	}
}

// Goal: the status says that the model thinks until its words come, and from then on that it answers; in the next call it
// thinks again.
func TestTheStatusSaysThatTheModelAnswers(t *testing.T) {
	w := clitest.New(t)
	h := w.Open(words("hello", `{"thinking":"`+strings.Repeat("hm ", 20)+`","text":"`+strings.Repeat("word by word ", 30)+`","delay_ms":20,"tools":[{"name":"Bash","input":{"command":"true"}}]},`+
		`{"thinking":"`+strings.Repeat("hm ", 20)+`","text":"Done.","delay_ms":20}`))
	defer w.Close(h)
	d := sits(t, w, h, nil)
	defer d.leaves()
	d.says("k1", "hello")
	for i, want := range []string{"thinking", "answering", "Bash", "thinking", ""} {
		if want == "Bash" {
			continue // it may be over before anybody looks
		}
		clitest.Until(t, fmt.Sprintf("status %d is %q", i, want), func() bool {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.stand.Activity == want && d.stand.Working == (want != "")
		})
	}
}
