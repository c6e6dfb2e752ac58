package screen_test

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
)

// drawn is a screen that is drawn without a terminal: what is asked of the session comes back to it.
type drawn struct {
	t    *testing.T
	m    *chat.Model
	msgs chan tea.Msg
}

func draws(d *desk) *drawn {
	m, err := d.Screen(d.began)
	if err != nil {
		d.t.Fatal(err)
	}
	p := &drawn{t: d.t, m: m, msgs: make(chan tea.Msg, 1000)}
	p.run(m.Init())
	p.gets(tea.WindowSizeMsg{Width: 80, Height: 24})
	return p
}

// run has a command done; what it tells is read by shows.
func (p *drawn) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				p.run(c)
			}
		default:
			select {
			case p.msgs <- msg:
			case <-p.t.Context().Done():
			}
		}
	}()
}

func (p *drawn) gets(msg tea.Msg) {
	_, cmd := p.m.Update(msg)
	p.run(cmd)
}

// shows waits until all of the words are drawn.
func (p *drawn) shows(words ...string) {
	p.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		view := ansi.Strip(p.m.View().Content)
		all := true
		for _, w := range words {
			all = all && strings.Contains(view, w)
		}
		if all {
			return
		}
		select {
		case msg := <-p.msgs:
			p.gets(msg)
		case <-deadline:
			p.t.Fatalf("never: %q are drawn\n%s", words, view)
		}
	}
}

// A message whose session cannot be made is back where it was written, and why is said.
func TestAMessageThatCannotBeSentIsWrittenAgain(t *testing.T) {
	w := clitest.New(t)
	h := w.Open("{}")
	defer w.Close(h)
	d := sits(t, w, h, func(c *screen.Config) {
		c.Create = func(context.Context, string) (string, error) { return "", errNot }
	})
	defer d.leaves()
	p := draws(d)
	p.gets(composer.SentMsg{Draft: written("my careful words")})
	p.shows("written again below: not this time", "my careful words")
	p.gets(tea.KeyPressMsg{Code: 'x', Text: "x"})
	p.shows("my careful wordsx")
}

// A message that waits and is taken back is written again as it was, with what is attached to it, even if it was sent from
// another terminal, and even if the screen hears that it waits no more before it hears that it was taken back.
func TestAMessageThatIsTakenBackIsWrittenAgain(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open("{}")
	defer w.Close(h)
	text, more := screen.Parts(composer.Draft{Parts: []composer.Part{
		composer.Text("look at "), composer.Pasted{Text: strings.Repeat("x\n", 300), Lines: 300}, composer.Text(" well"),
	}})
	if _, err := h.Send(t.Context(), "s", "k0", text, more...); err != nil {
		t.Fatal(err)
	}
	d := sits(t, w, h, held("s"))
	defer d.leaves()
	d.sees("waits: look at [pasted 300 lines] well")
	p := draws(d)
	d.mu.Lock()
	p.gets(chat.Changed{Queues: true, Queue: d.queue})
	d.mu.Unlock()
	p.gets(tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModAlt})
	p.gets(chat.Changed{Queues: true})
	p.shows("look at [pasted 300 lines] well")
}
