package screen_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/cli/screen"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/theme"
)

// ran runs a command with all that comes of it, but for beats.
func ran(m *asks.Model, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	select {
	case msg := <-done:
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				ran(m, c)
			}
			return
		}
		ran(m, m.Update(msg))
	case <-time.After(20 * time.Second):
	}
}

// A call of the held session is shown in the strip, opened by the focus alone, and answered by a key: the session, which
// this very process holds, goes on with it.
func TestAnAskOfTheHeldSession(t *testing.T) {
	w := clitest.New(t)
	w.Create("s")
	h := w.Open(clitest.Asking("Bash", map[string]any{"command": "touch 日本語"}))
	defer w.Close(h)
	held, err := h.Hold(t.Context(), "s", homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := h.Send(t.Context(), "s", "", "go"); err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.App.Now = func() time.Time { return clock }
	m := screen.NewAsks(w.App, h, "s", "ctrl+o", theme.Plain())
	m.SetSize(80, 3)
	clitest.Until(t, "the session asks", func() bool {
		ran(m, m.Refresh())
		return m.Waiting() == 1
	})
	if text := ansi.Strip(m.View()); !strings.Contains(text, "1 approval waits for you") || !strings.Contains(text, "Bash touch 日本語") {
		t.Errorf("the strip:\n%s", text)
	}
	ran(m, m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})) // for the composer
	ran(m, m.Focus())
	m.SetSize(80, m.Height(20))
	if text := ansi.Strip(m.View()); !strings.Contains(text, "touch 日本語") || !strings.Contains(text, "y once") || !strings.Contains(text, "in "+w.Dir) {
		t.Errorf("focused:\n%s", text)
	}
	if st, err := held.State(t.Context()); err != nil || len(h.Waits(st)) != 1 {
		t.Fatalf("answered by typing: %v", err)
	}
	clock = clock.Add(time.Second)
	ran(m, m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"}))
	clitest.Until(t, "the session goes on", func() bool {
		st, err := held.State(t.Context())
		return err == nil && st.Turn == nil
	})
	if m.Focused() || m.Waiting() != 0 {
		t.Errorf("afterwards: focused %v, %d wait", m.Focused(), m.Waiting())
	}
}
