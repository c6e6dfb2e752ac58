package screen

import (
	"context"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/ui/picker"
)

// Picking is how a list of sessions is opened.
type Picking struct {
	Words string // looked for at once, in the sessions of all directories; empty: none
	Note  string // told; empty: nothing
	Back  bool   // esc goes back to where it was opened from
	Left  string // the session that was there, which is not the first to be offered; empty: none was
}

// Pick lets a person choose a session, and what to do with it. It opens none.
func Pick(ctx context.Context, a *app.App, h *homes.Home, how Picking) (picker.ChosenMsg, error) {
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil {
		dir = "" // it is gone: sessions of all directories are shown
	}
	here := ""
	if dir != "" {
		here = a.Tilde(dir)
	}
	p := &picking{page: picker.New(picker.Config{
		Source: NewSessions(a, h, dir), Now: a.Now, Styles: a.Styles(), Here: here, Words: how.Words, Note: how.Note, Return: how.Back, Left: how.Left,
	})}
	err = a.Show(ctx, p)
	return p.chosen, err
}

// picking is the picker as a program.
type picking struct {
	page   *picker.Model
	chosen picker.ChosenMsg
}

func (p *picking) Init() tea.Cmd { return p.page.Init() }

func (p *picking) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.page.SetSize(msg.Width, msg.Height)
		return p, nil
	case picker.ChosenMsg:
		p.chosen = msg
		return p, tea.Quit
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			return p, tea.Quit
		case "ctrl+z":
			return p, tea.Suspend
		}
	}
	return p, p.page.Update(msg)
}

func (p *picking) View() tea.View {
	v := tea.NewView(p.page.View())
	v.AltScreen = true
	v.Cursor = p.page.Cursor()
	return v
}
