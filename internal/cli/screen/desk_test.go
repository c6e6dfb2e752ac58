package screen_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// desk is a person's screen without the drawing: it takes what comes as the screen does.
type desk struct {
	screen.Link
	t     *testing.T
	began screen.Began

	mu     sync.Mutex
	items  []transcript.Item
	queue  []chat.Queued
	stand  chat.Stand
	gone   *chat.Gone
	made   int
	closed bool
}

// sits opens a screen over a home. Without an id the first message makes the session.
func sits(t *testing.T, w *clitest.World, h *homes.Home, change func(*screen.Config)) *desk {
	t.Helper()
	cfg := screen.Config{
		App: w.App, Home: h, Notes: func() []string { return nil },
		Create: func(ctx context.Context, _ string) (string, error) {
			return h.Create(ctx, engine.Spec{ID: "s", Owner: "tester", Agent: agent("test"), Cwd: w.Dir})
		},
		Options: func(context.Context, string, bool) (homes.Options, error) {
			return homes.Options{Mode: permission.ModeBypass}, nil
		},
		Want: func(_ context.Context, mode, _ string) (chat.Stand, error) {
			return chat.Stand{ID: "new", Mode: mode}, nil
		},
		Run: func(context.Context, ...string) (string, bool) { return "", true },
	}
	if change != nil {
		change(&cfg)
	}
	d := &desk{t: t}
	l, b, err := screen.OpenLink(t.Context(), cfg, d.take)
	t.Cleanup(d.leaves)
	d.mu.Lock()
	d.Link, d.began = l, b
	d.items, d.queue = append(slices.Clone(b.Items), d.items...), b.Queue
	if d.stand.ID == "" {
		d.stand = b.Stand
	}
	d.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func agent(name string) session.Agent {
	return session.Agent{Name: "default", Provider: "scripted", Model: name, Tools: []byte(`[{"name":"Bash"}]`), MaxTokens: 1000, Price: &model.Price{}}
}

func attached(id string) func(*screen.Config) {
	return func(c *screen.Config) { c.ID, c.Attach = id, true }
}

func held(id string) func(*screen.Config) { return func(c *screen.Config) { c.ID = id } }

func (d *desk) leaves() {
	if !d.closed {
		d.closed = true
		d.Close()
	}
}

func (d *desk) take(msg tea.Msg) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch msg := msg.(type) {
	case chat.Made:
		d.made++
	case chat.Gone:
		d.gone = &msg
	case chat.Changed:
		d.items = slices.DeleteFunc(d.items, func(it transcript.Item) bool { return slices.Contains(msg.Drop, it.ID) })
		for _, s := range msg.Said {
			it := d.at(s.ID)
			it.Kind = s.Kind
			it.Text += s.Text
		}
		for _, it := range msg.Items {
			*d.at(it.ID) = it
		}
		if msg.Queues {
			d.queue = msg.Queue
		}
		if msg.Stand != nil {
			d.stand = *msg.Stand
		}
	}
}

func (d *desk) at(id string) *transcript.Item {
	i := slices.IndexFunc(d.items, func(it transcript.Item) bool { return it.ID == id })
	if i < 0 {
		i = len(d.items)
		d.items = append(d.items, transcript.Item{ID: id})
	}
	return &d.items[i]
}

// shows is the conversation in words, then what waits and how it stands.
func (d *desk) shows() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for _, it := range d.items {
		if it.Kind == transcript.Tool {
			fmt.Fprintf(&b, "%s %s → %s\n", it.Call.Name, it.Call.About, it.Call.Outcome)
			continue
		}
		fmt.Fprintf(&b, "%s%s\n", map[transcript.Kind]string{transcript.Person: "> ", transcript.Note: "· ", transcript.Trouble: "! "}[it.Kind], it.Text)
	}
	for _, q := range d.queue {
		fmt.Fprintf(&b, "waits: %s\n", q.Text)
	}
	s := d.stand
	for name, on := range map[string]bool{"working": s.Working, "halted: " + s.Halted: s.Halted != "", "held by " + s.Other: s.Other != "", "asks": s.Waits > 0, "mode " + s.Mode: s.ID != "", "model " + s.Model: s.ID != ""} {
		if on {
			fmt.Fprintf(&b, "[%s]\n", name)
		}
	}
	if d.gone != nil {
		fmt.Fprintf(&b, "[gone: %s]\n", d.gone.Text)
	}
	return b.String()
}

// sees waits until all of the words are shown.
func (d *desk) sees(words ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf("%q are shown", words), func(shown string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(shown, w) })
	})
}

// lacks waits until none of the words are shown.
func (d *desk) lacks(words ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf("none of %q are shown", words), func(shown string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(shown, w) })
	})
}

func (d *desk) until(what string, ok func(string) bool) {
	d.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !ok(d.shows()) {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatalf("never: %s; it shows\n%s", what, d.shows())
		}
	}
}

func (d *desk) says(key, text string) {
	d.t.Helper()
	if err := d.Send(d.t.Context(), key, written(text)); err != nil {
		d.t.Fatal(err)
	}
}

func written(text string) composer.Draft {
	return composer.Draft{Parts: []composer.Part{composer.Text(text)}}
}

var errNot = errors.New("not this time")

// replied is a reply of a model that says something.
func replied(act, text string) session.Body {
	return &session.ModelResponded{Act: act, Model: "scripted/test", Provider: "scripted", Stop: modelapi.StopEndTurn, Cost: new(int64), Blocks: []session.SealedBlock{
		{Type: model.BlockText, Text: true, Raw: fmt.Appendf(nil, `{"type":"text","text":%q}`, text), Shown: []byte(text)},
	}}
}

// has are the items that are shown.
func (d *desk) has() []transcript.Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.items)
}
