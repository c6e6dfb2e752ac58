package screen

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/store"
)

// Pick lets a person choose a session, and what to do with it; words, if there are any, are looked for at once, in the
// sessions of all directories. A note, if there is one, is told. It opens none.
func Pick(ctx context.Context, a *app.App, h *homes.Home, words, note string) (picker.ChosenMsg, error) {
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil {
		dir = "" // it is gone: sessions of all directories are shown
	}
	here := ""
	if dir != "" {
		here = a.Tilde(dir)
	}
	p := &picking{page: picker.New(picker.Config{Source: NewSessions(a, h, dir), Now: a.Now, Styles: a.Styles(), Here: here, Words: words, Note: note})}
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

// Held lets a person choose what to do with a session that another process holds. A note, if there is one, is told.
func Held(ctx context.Context, a *app.App, id string, held *store.HeldError, note string) (picker.What, error) {
	q := &heldQuestion{note: note, style: a.Styles(), id: id, holder: held.Holder, since: a.Ago(held.Holder.Since), stopped: stands(&held.Holder)}
	err := a.Show(ctx, q)
	return q.what, err
}

// heldQuestion is the choice as a program.
type heldQuestion struct {
	style   theme.Styles
	id      string
	holder  store.Holder
	since   string
	width   int
	sure    bool // the takeover was asked for once
	stopped bool // the holder is
	note    string
	what    picker.What
}

// maxRefusal bounds the words of why something was not done, in characters.
const maxRefusal = 600

func (q *heldQuestion) Init() tea.Cmd { return nil }

func (q *heldQuestion) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		q.width = msg.Width
	case tea.KeyPressMsg:
		return q, q.key(msg.String())
	}
	return q, nil
}

func (q *heldQuestion) key(name string) tea.Cmd {
	switch name {
	case "a", "enter":
		q.what = picker.Attach
	case "f":
		q.what = picker.Fork
	case "t":
		if !q.sure {
			q.sure = true
			return nil
		}
		q.what = picker.TakeOver
	case "esc", "q", "ctrl+c":
		if q.sure && name == "esc" {
			q.sure = false
			return nil
		}
		q.what = picker.Leave
	default:
		return nil
	}
	return tea.Quit
}

func (q *heldQuestion) View() tea.View {
	st := q.style
	lines := []string{
		st.Title.Styled("Another process holds this session"),
		"",
		fmt.Sprintf("session %s", plain.Line(q.id, 200)),
		fmt.Sprintf("held by pid %d on %s, since %s", q.holder.PID, plain.Line(q.holder.Host, 100), q.since),
	}
	if q.note != "" { // in the place of the title: it is to be seen where there is little room
		lines = append([]string{st.Bad.Styled(plain.Line(q.note, maxRefusal))}, lines[2:]...)
	}
	if q.stopped {
		lines = append(lines, st.Bold.Styled(fmt.Sprintf("That process is stopped and answers nothing; kill -CONT %d lets it go on.", q.holder.PID)))
	}
	lines = append(
		lines,
		"",
		st.Accent.Styled("a")+"  attach: see what it does, write to it, answer it",
		st.Accent.Styled("f")+"  fork: go on in a copy, from its newest event",
		st.Accent.Styled("t")+"  take it over: the other process is shut out",
		st.Accent.Styled("esc")+"  leave",
	)
	if q.sure {
		lines = append(lines, "", st.Bold.Styled("What the other process is doing ends for it at once. t again takes the session over, esc does not."))
	}
	for i, l := range lines {
		lines[i] = strings.Join(theme.Wrap(l, max(q.width, 20)), "\n") // what it ends is read whole, however narrow
	}
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	return v
}
