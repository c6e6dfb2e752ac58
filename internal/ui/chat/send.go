package chat

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// maxMine bounds how many messages of this screen are kept as they were written.
const maxMine = 64

// submit takes what a person has sent: a command, or a message.
func (m *Model) submit(d composer.Draft) tea.Cmd {
	if d.Empty() {
		return nil
	}
	if name, args, ok := commandOf(d); ok {
		if m.commandNamed(name) == nil {
			m.in.TakeBack(d)
		}
		return m.command(name, args)
	}
	if m.gone != nil {
		m.in.TakeBack(d)
		return m.goOn()
	}
	text := strings.ToLower(strings.TrimSpace(d.String()))
	switch {
	case m.stand.Waits > 0 && slices.Contains(answers[:], text):
		m.in.TakeBack(d)
		m.tell(true, "this would be a message; ctrl+o answers what waits")
		return nil
	}
	if line, ok := shellOf(d); ok {
		return m.shell(d, line)
	}
	if fact, ok := memoryOf(d); ok {
		return m.remember(d, fact)
	}
	m.talk.Browse(false)
	m.talk.End()
	return m.send(m.withRan(d))
}

// memoryOf finds what is to be remembered: a draft of one line that begins with # and is neither a lower heading nor the
// number of something.
func memoryOf(d composer.Draft) (fact string, ok bool) {
	if len(d.Parts) != 1 {
		return "", false
	}
	text, ok := d.Parts[0].(composer.Text)
	line := strings.TrimSpace(string(text))
	if !ok || !strings.HasPrefix(line, "#") || strings.Contains(line, "\n") {
		return "", false
	}
	fact = strings.TrimSpace(line[1:])
	return fact, fact != "" && fact[0] != '#' && (fact[0] < '0' || fact[0] > '9')
}

// remember adds a line to the memory of the project.
func (m *Model) remember(d composer.Draft, fact string) tea.Cmd {
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		if err := link.Remember(ctx, fact); err != nil {
			return forgottenMsg{d, err}
		}
		return replyMsg{"memory", Reply{Note: "remembered for this project: " + plain.Line(fact, 500) + "  (/memory undo takes it back)"}, nil}
	}
}

// forgottenMsg tells that something was not remembered.
type forgottenMsg struct {
	draft composer.Draft
	err   error
}

// answers are words that somebody types who takes the composer for the question that waits.
var answers = [...]string{"y", "n", "yes", "no", "s", "1", "2", "3"}

// commandOf finds a command: a draft of text alone that begins with a slash and a word without another one.
func commandOf(d composer.Draft) (name, args string, ok bool) {
	if len(d.Parts) != 1 {
		return "", "", false
	}
	text, ok := d.Parts[0].(composer.Text)
	if !ok || !strings.HasPrefix(string(text), "/") {
		return "", "", false
	}
	name, args, _ = strings.Cut(strings.TrimSpace(string(text[1:])), " ")
	if name == "" || strings.ContainsAny(name, "/\n") {
		return "", "", false // a path
	}
	return name, strings.TrimSpace(args), true
}

// written is a message as it was written here, and what was run goes with it.
type written struct {
	composer.Draft
	ran []Ran
}

// send brings a message to the session. It is shown as queued at once, and comes back into the composer if it fails.
func (m *Model) send(w written) tea.Cmd {
	key := Tells(m.cfg.NewKey(), w.ran)
	if len(m.mine) >= maxMine {
		clear(m.mine)
	}
	m.mine[key] = w
	d := w.whole()
	m.queue = append(m.queue, Queued{Key: key, Text: firstLine(labels(d))})
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg { return sentMsg{key, w, link.Send(ctx, key, d)} }
}

// labels is a draft with what is attached as it is shown.
func labels(d composer.Draft) string {
	var b strings.Builder
	for _, p := range d.Parts {
		if text, ok := p.(composer.Text); ok {
			b.WriteString(string(text))
		} else {
			b.WriteString(composer.Label(p))
		}
	}
	return b.String()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// sent hears how a message went. One that was not taken is not lost: it is written again.
func (m *Model) sent(msg sentMsg) tea.Cmd {
	if msg.err == nil {
		if m.stand.Nobody { // who sends a message wants it read
			return m.goOn()
		}
		return nil
	}
	for i, q := range m.queue {
		if q.Key == msg.key {
			m.queue = append(m.queue[:i:i], m.queue[i+1:]...)
			break
		}
	}
	delete(m.mine, msg.key)
	m.in.TakeBack(msg.written.Draft)
	m.goes(msg.written.ran...)
	m.say(transcript.Trouble, "not sent, and written again below: "+msg.err.Error())
	m.talk.End()
	return nil
}

// find looks for words in the conversation, upwards if back, and brings older items until there are none.
func (m *Model) find(words string, back bool) tea.Cmd {
	m.older.find = ""
	if words == "" {
		return nil
	}
	m.search.last = words
	if m.talk.Find(words, back) {
		return nil
	}
	if back && !m.older.done {
		m.older.find = words
		m.tell(false, "looking in what was said before…")
		return m.loadOlder()
	}
	m.tell(false, fmt.Sprintf("%q is found no further", plain.Line(words, 100)))
	return nil
}

// search is a line of words that are looked for in the conversation.
type search struct {
	on   bool
	line list.Field
	last string
}

func (m *Model) searchKey(k tea.KeyPressMsg, name string) tea.Cmd {
	s := &m.search
	switch name {
	case "esc":
		s.on, s.line.Text = false, ""
	case "enter", "up", "down":
		words := s.line.Text
		if words == "" {
			words = s.last
		}
		s.on, s.line.Text = false, ""
		return m.find(words, name != "down")
	default:
		s.line.Key(k)
	}
	return nil
}

// note items.

// say puts a line of the screen's own into the conversation.
func (m *Model) say(kind transcript.Kind, text string) {
	m.talk.Put(transcript.Item{ID: "screen " + m.cfg.NewKey(), Kind: kind, Text: text})
}
