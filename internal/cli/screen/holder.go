package screen

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/picker"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Held lets a person choose what to do with a session that another process holds. silent is how that one does not
// answer, as far as that is known; it is found out meanwhile where something waits for it. A note, if there is one, is
// told.
func Held(ctx context.Context, a *app.App, h *homes.Home, held *store.HeldError, id, silent, note string) (picker.What, error) {
	q := &heldQuestion{
		style: a.Styles(), id: id, holder: held.Holder, since: a.Ago(held.Holder.Since), silent: silent, note: note,
		look: func() (store.Info, error) { return h.Store().Get(ctx, id) }, now: a.Now,
	}
	err := a.Show(ctx, q)
	return q.what, err
}

// heldQuestion is the choice as a program.
type heldQuestion struct {
	style  theme.Styles
	id     string
	holder store.Holder
	since  string
	look   func() (store.Info, error)
	now    func() time.Time

	silence silence
	silent  string // how the holder does not answer
	width   int
	title   string
	sure    bool   // the takeover was asked for once
	note    string // why what was chosen before was not done
	what    picker.What
}

// maxRefusal bounds the words of why something was not done, in characters.
const maxRefusal = 600

// lookEvery is how often the holder is looked at.
const lookEvery = time.Second

// lookedMsg is a look at the session.
type lookedMsg struct {
	info store.Info
	err  error
}

func (q *heldQuestion) Init() tea.Cmd { return q.looks() }

func (q *heldQuestion) looks() tea.Cmd {
	return func() tea.Msg {
		info, err := q.look()
		return lookedMsg{info, err}
	}
}

func (q *heldQuestion) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		q.width = msg.Width
	case tea.KeyPressMsg:
		return q, q.key(msg.String())
	case lookedMsg:
		if msg.err == nil {
			q.title, _ = sessions.Known(view.Listing{Info: msg.info})
		}
		if msg.err == nil && msg.info.Holder != nil {
			if how := q.silence.look(msg.info, q.now()); how != "" {
				q.silent = how
			}
		}
		return q, tea.Tick(lookEvery, func(time.Time) tea.Msg { return q.looks()() })
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
		if !q.sure && q.silent == "" && !stands(&q.holder) { // of one that does not answer it was said what is to be known
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
		theme.Cut(strings.TrimSpace(plain.Line(q.title, 200)+"  "+plain.Line(q.id, 200)), max(q.width, 20)),
		fmt.Sprintf("held by pid %d on %s, since %s", q.holder.PID, plain.Line(q.holder.Host, 100), q.since),
	}
	if q.note != "" { // in the place of the title: it is to be seen where there is little room
		lines = append([]string{st.Bad.Styled(plain.Line(q.note, maxRefusal))}, lines[2:]...)
	}
	switch {
	case stands(&q.holder):
		lines = append(lines, st.Bold.Styled(fmt.Sprintf("That process is stopped and answers nothing; kill -CONT %d lets it go on.", q.holder.PID)))
	case q.silent != "":
		lines = append(lines, st.Bold.Styled("That process "+q.silent+"."))
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
