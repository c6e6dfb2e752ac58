package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/chooser"
	"github.com/perdure/perdure/internal/ui/textpage"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// command does what was typed after a slash.
func (m *Model) command(name, args string) tea.Cmd {
	c := m.commandNamed(name)
	if c == nil {
		var names []string
		for _, c := range m.cfg.Commands {
			names = append(names, c.Name)
		}
		text := fmt.Sprintf("there is no /%s", plain.Line(name, 40))
		if near := plain.Nearest(name, names); near != "" {
			text += "; nearest: /" + near
		}
		m.tell(true, text+"; /help lists all")
		return nil
	}
	switch {
	case c.Name == "exit":
		return m.leave()
	case c.Page != nil:
		if page := c.Page(args); page != nil {
			return m.open("/"+c.Name, page)
		}
	}
	if c.Name == "mode" && args == "" {
		return m.choose("mode", m.modeChoices())
	}
	link, ctx, full := m.cfg.Link, m.ctx, c.Name
	return func() tea.Msg {
		reply, err := link.Command(ctx, full, args)
		return replyMsg{full, reply, err}
	}
}

// modeChoices are the modes to choose from.
func (m *Model) modeChoices() Reply {
	about := map[string]string{
		"default":     "what no rule allows asks; reading in the session's directories does not",
		"acceptEdits": "edits of files ask no more, but for protected ones; commands do",
		"plan":        "it reads and plans, and changes nothing",
	}
	r := Reply{Title: "The mode is " + m.stand.Mode}
	for _, mode := range modes {
		r.Choices = append(r.Choices, Choice{Line: mode, About: about[mode], Command: "mode", Args: mode})
	}
	return r
}

// commandNamed finds a command; nil: there is none of that name.
func (m *Model) commandNamed(name string) *Command {
	name = strings.ToLower(name)
	i := slices.IndexFunc(m.cfg.Commands, func(c Command) bool { return c.Name == name || slices.Contains(c.Alias, name) })
	if i < 0 {
		return nil
	}
	return &m.cfg.Commands[i]
}

// open shows a page.
func (m *Model) open(title string, page Page) tea.Cmd {
	m.page, m.title = page, title
	m.layout()
	return page.Init()
}

// chosenMsg is what a person has chosen; n -1: nothing.
type chosenMsg struct {
	reply Reply
	n     int
}

// choose opens a page of choices.
func (m *Model) choose(name string, r Reply) tea.Cmd {
	rows := make([]chooser.Row, len(r.Choices))
	for i, c := range r.Choices {
		rows[i] = chooser.Row{Key: strconv.Itoa(i), Line: c.Line, About: c.About}
	}
	return m.open("/"+name, chooser.New(m.cfg.Style, r.Title, rows, func(key string) tea.Msg {
		n, err := strconv.Atoi(key)
		if err != nil {
			n = -1
		}
		return chosenMsg{r, n}
	}))
}

func (m *Model) chosen(msg chosenMsg) tea.Cmd {
	m.closePage()
	if msg.n < 0 || msg.n >= len(msg.reply.Choices) {
		return nil
	}
	c := msg.reply.Choices[msg.n]
	if c.Command != "" {
		return m.command(c.Command, c.Args)
	}
	return m.replied(replyMsg{reply: Reply{Go: c.Go, Title: c.Line, Text: c.Text}})
}

// replied shows what a command came to.
func (m *Model) replied(msg replyMsg) tea.Cmd {
	r := msg.reply
	if msg.name == "continue" {
		m.note = note{} // it is seen
	}
	switch {
	case msg.err != nil:
		m.say(transcript.Trouble, fmt.Sprintf("/%s: %v", msg.name, msg.err))
		m.talk.End()
		return nil
	case r.Go != nil:
		m.result.Goal = r.Go
		return tea.Quit
	case len(r.Choices) > 0:
		if m.page != nil || m.asking() || m.search.on || m.in.Typing() {
			m.tell(false, "/"+msg.name+" again shows what was found")
			return nil
		}
		return m.choose(msg.name, r)
	case r.Text != "" && (m.page != nil || m.asking() || m.search.on || m.in.Typing()): // the keys are somebody's by now
		m.say(transcript.Note, r.Title+"\n"+r.Text)
	case r.Text != "":
		return m.open(r.Title, textpage.New(m.cfg.Style, r.Title, r.Text))
	}
	if r.Note != "" {
		m.say(transcript.Note, r.Note)
		m.talk.End()
	}
	return nil
}

// came shows what came of a page's work.
func (m *Model) came(msg Done) tea.Cmd {
	r := msg.Reply
	if w, ok := m.page.(interface{ Working() bool }); ok && w.Working() {
		m.closePage()
	} else if r.Go != nil {
		r.Note, r.Go = strings.TrimSpace(r.Note+"\n"+r.Go.Note+"\nit is session "+cmp.Or(r.Go.Called, r.Go.Session)+": /resume "+cmp.Or(r.Go.Called, r.Go.Session)+" goes there"), nil
	}
	return m.replied(replyMsg{msg.Name, r, msg.Err})
}
