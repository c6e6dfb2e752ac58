package inbox

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/theme"
)

// CanDraw reports whether this process has a terminal that a screen can be drawn on.
func CanDraw(a *app.App) bool { return a.Terminal && a.Screen && a.Getenv("TERM") != "dumb" }

// Page is the inbox as a page of a screen.
func Page(a *app.App, h *homes.Home, open func(session string) tea.Cmd) *asks.Model {
	return asks.New(asks.Config{Source: NewSource(a, h, ""), Now: a.Now, Style: theme.Colours(), Page: true, Open: open})
}

// open shows the inbox on the whole terminal until its person leaves.
func open(ctx context.Context, a *app.App, h *homes.Home) error {
	return a.Show(ctx, &screen{page: Page(a, h, nil)})
}

// screen gives the page a whole terminal.
type screen struct{ page *asks.Model }

func (s *screen) Init() tea.Cmd { return s.page.Init() }

func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.page.SetSize(msg.Width, msg.Height)
		return s, nil
	case tea.KeyPressMsg:
		switch key := msg.String(); {
		case key == "ctrl+c", key == "q" && !s.page.Typing():
			return s, tea.Quit
		case key == "esc" && !s.page.Back():
			return s, tea.Quit
		case key == "esc":
			return s, nil
		case key == "ctrl+z":
			return s, tea.Suspend
		}
	}
	return s, s.page.Update(msg)
}

func (s *screen) View() tea.View {
	v := tea.NewView(s.page.View())
	v.AltScreen = true
	v.Cursor = s.page.Cursor()
	return v
}
